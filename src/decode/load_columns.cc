// SPDX-License-Identifier: Apache-2.0
#include "decode/load_columns.h"

#include <algorithm>
#include <cmath>

#include "taproot/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/load_columns.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Whether all lanes hold -inf or a score within the limits.
HWY_INLINE bool are_fine(V s) {
  const D d;
  const auto fine = hn::Le(hn::Abs(s), hn::Set(d, kMaxScore));
  if (HWY_LIKELY(hn::AllTrue(d, fine))) return true;
  return hn::AllTrue(d, hn::Or(fine, hn::Eq(s, hn::Set(d, -HUGE_VAL))));
}

// Row h of the view into to[0..n], with -inf behind it.
HWY_INLINE void copy_row(const ScoreView& view, size_t h, size_t ld, double* HWY_RESTRICT to) {
  const auto n = static_cast<size_t>(view.n());
  const size_t count = h > n ? 0 : n + 1;
  const std::ptrdiff_t stride = view.modifier_stride();
  const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(h) * view.head_stride();
  if (const double* data = view.double_data()) {
    for (size_t m = 0; m < count; ++m) to[m] = data[from + static_cast<std::ptrdiff_t>(m) * stride];
  } else {
    const float* narrow = view.float_data() + from;
    for (size_t m = 0; m < count; ++m) {
      to[m] = static_cast<double>(narrow[static_cast<std::ptrdiff_t>(m) * stride]);
    }
  }
  std::fill(to + count, to + ld, -HUGE_VAL);
}

// Returns whether all scores are fine; cells that are to be ignored may make it false. It reads as
// many heads at a time as a square has rows, from the view or, where its rows are not contiguous
// doubles, from a strip that they are copied to.
bool transpose_scores(const ScoreView& view, double* HWY_RESTRICT columns, size_t ld,
                      double* HWY_RESTRICT strip) {
  const D d;
  const auto n = static_cast<size_t>(view.n());
  const bool direct = view.double_data() != nullptr && view.modifier_stride() == 1;
  bool fine = true;
  for (size_t first = 0; first < ld; first += kSquare) {
    const double* rows[kSquare];
    for (size_t r = 0; r < kSquare; ++r) {
      // The last row may not be read beyond its end.
      if (direct && first + r < n) {
        rows[r] = view.double_data() + static_cast<std::ptrdiff_t>(first + r) * view.head_stride();
      } else {
        copy_row(view, first + r, ld, strip + r * ld);
        rows[r] = strip + r * ld;
      }
    }
    for (size_t r = 0; r < kSquare && first + r <= n; ++r) {
      size_t m = 0;
      for (; m + kLanes <= n + 1; m += kLanes) fine &= are_fine(hn::LoadU(d, rows[r] + m));
      for (; m <= n; ++m) {
        fine &= std::abs(rows[r][m]) <= kMaxScore || rows[r][m] == -HUGE_VAL;
      }
    }
    size_t m = 0;
    for (; m + kSquare <= n + 1; m += kSquare) {
      const double* from[kSquare];
      double* to[kSquare];
      for (size_t r = 0; r < kSquare; ++r) {
        from[r] = rows[r] + m;
        to[r] = columns + (m + r) * ld + first;
      }
      transpose(from, to);
    }
    for (; m <= n; ++m) {
      for (size_t r = 0; r < kSquare; ++r) columns[m * ld + first + r] = rows[r][m];
    }
  }
  for (size_t m = 0; m <= n; ++m) columns[m * ld + m] = -HUGE_VAL;
  return fine;
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
      if (h != m && s != -HUGE_VAL && !(std::abs(s) <= kMaxScore)) {
        return {Status::kBadScore, h, m};
      }
    }
  }
  return {};
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
