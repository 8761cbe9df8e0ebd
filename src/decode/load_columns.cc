// SPDX-License-Identifier: Apache-2.0
#include "decode/load_columns.h"

#include <algorithm>
#include <cmath>

#include "taproot/decode.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/load_columns.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Whether all scores off the diagonal and column 0 are ones that decoders take. Heads are taken by
// squares' sides: their rows converted and padded in `strip`, then transposed.
bool transpose_scores(const ScoreView& view, double* HWY_RESTRICT columns, size_t ld,
                      double* HWY_RESTRICT strip) {
  const D d;
  const auto n = static_cast<size_t>(view.n());
  const std::ptrdiff_t stride = view.modifier_stride();
  const V limit = hn::Set(d, kMaxDecodeScore);
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  auto bad = hn::FirstN(d, 0);
  for (size_t first = 0; first < ld; first += kSquare) {
    for (size_t r = 0; r < kSquare; ++r) {
      double* HWY_RESTRICT to = strip + r * ld;
      const size_t h = first + r;
      const size_t count = h > n ? 0 : n + 1;
      const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(h) * view.head_stride();
      if (const double* data = view.double_data()) {
        if (stride == 1) {
          std::copy_n(data + from, count, to);
        } else {
          for (size_t m = 0; m < count; ++m) {
            to[m] = data[from + static_cast<std::ptrdiff_t>(m) * stride];
          }
        }
      } else {
        const float* narrow = view.float_data() + from;
        for (size_t m = 0; m < count; ++m) {
          to[m] = static_cast<double>(narrow[static_cast<std::ptrdiff_t>(m) * stride]);
        }
      }
      std::fill(to + count, to + ld, -HUGE_VAL);
      to[0] = to[h] = -HUGE_VAL;
      for (size_t j = 0; j < ld; j += kLanes) {
        const V s = hn::LoadU(d, to + j);
        bad = hn::Or(bad, hn::Not(hn::Or(hn::Le(hn::Abs(s), limit), hn::Eq(s, minus_inf))));
      }
    }
    for (size_t m = 0; m <= n; m += kSquare) {
      HWY_ALIGN double beyond[kSquare];
      const double* from[kSquare];
      double* to[kSquare];
      for (size_t r = 0; r < kSquare; ++r) {
        from[r] = strip + r * ld + m;
        to[r] = m + r <= n ? columns + (m + r) * ld + first : beyond;
      }
      transpose(from, to);
    }
  }
  return hn::AllFalse(d, bad);
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(transpose_scores);

Outcome load_columns(const ScoreView& scores, Buffer<double>& columns) {
  const int n = scores.n();
  if (n == 0) return {Status::kEmpty};
  const std::size_t ld = leading_dimension(n);
  constexpr std::size_t kStrip = 4;
  const std::size_t size = (static_cast<std::size_t>(n) + 1) * ld;
  double* to = columns.resize(size + kStrip * ld);
  if (HWY_DYNAMIC_DISPATCH(transpose_scores)(scores, to, ld, to + size)) return {};
  for (int h = 0; h <= n; ++h) {
    for (int m = 1; m <= n; ++m) {
      const double s = scores(h, m);
      if (h != m && s != -HUGE_VAL && !(std::abs(s) <= kMaxDecodeScore)) {
        return {Status::kBadScore, h, m};
      }
    }
  }
  return {};
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
