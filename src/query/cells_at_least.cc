// SPDX-License-Identifier: Apache-2.0
#include "taproot/query.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "query/cells_at_least.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include <algorithm>
#include <bit>

#include "core/check.h"
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

constexpr size_t kTogether = 64;

// Bit i says whether values[i] is at least `least`, of 64 values.
HWY_INLINE uint64_t bits_at_least(const double* HWY_RESTRICT values, V least) {
  uint64_t bits = 0;
  for (size_t i = 0; i < kTogether; i += kLanes) {
    uint8_t own = 0;
    hn::StoreMaskBits(D(), hn::Ge(hn::LoadU(D(), values + i), least), &own);
    bits |= static_cast<uint64_t>(own) << i;
  }
  return bits;
}

// No processor could foresee a branch on a probability, so there is none: bits are visited one by
// one, and only how many there are in 64 has to be guessed.
static size_t find_cells(const double* HWY_RESTRICT values, size_t count, double least,
                         uint32_t* HWY_RESTRICT cells) {
  size_t found = 0;
  const auto visit = [&](size_t first, uint64_t bits) {
    for (; bits != 0; bits &= bits - 1) {
      cells[found++] = static_cast<uint32_t>(first + static_cast<size_t>(std::countr_zero(bits)));
    }
  };
  const V vector_of_least = hn::Set(D(), least);
  size_t first = 0;
  for (; first + kTogether <= count; first += kTogether) {
    visit(first, bits_at_least(values + first, vector_of_least));
  }
  uint64_t bits = 0;
  for (size_t i = first; i < count; ++i) {
    bits |= static_cast<uint64_t>(values[i] >= least ? 1 : 0) << (i - first);
  }
  visit(first, bits);
  return found;
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot {
namespace detail {
HWY_EXPORT(find_cells);
}  // namespace detail

std::size_t cells_at_least(std::span<const double> values, double least,
                           std::span<std::uint32_t> cells) {
  detail::require(cells.size() >= values.size(), "cells_at_least",
                  "cells must have as many entries as there are values");
  detail::require(values.size() <= std::size_t{1} << 32, "cells_at_least",
                  "there must be at most 2^32 values");
  using namespace detail;  // HWY_DYNAMIC_DISPATCH takes a plain name.
  return HWY_DYNAMIC_DISPATCH(find_cells)(values.data(), values.size(), least, cells.data());
}

}  // namespace taproot
#endif  // HWY_ONCE
