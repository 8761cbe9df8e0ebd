// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "scores/ln2.h"
#include "scores/score_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scores/load_scores.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Blanks the cells of row `head` that are ignored, checks the others, and raises the columns' maxima
// to them. Returns what it found, kBad or kForbidden.
HWY_INLINE int check_row(double* HWY_RESTRICT row, size_t head, size_t n, size_t ld,
                         double* HWY_RESTRICT column_max) {
  const D d;
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  const V limit = hn::Set(d, kMaxScore);
  const V last = hn::Set(d, static_cast<double>(n));
  const V diagonal = hn::Set(d, static_cast<double>(head));
  V bad = hn::Zero(d);        // Becomes nonzero where a score is neither -inf nor in range,
  V forbidden = hn::Zero(d);  // and this where one is -inf.
  const V one = hn::Set(d, 1.0);
  for (size_t j = 0; j < ld; j += kLanes) {
    const V column = hn::Iota(d, static_cast<double>(j));
    const auto ignored =
        hn::Or(hn::Or(hn::Eq(column, hn::Zero(d)), hn::Gt(column, last)), hn::Eq(column, diagonal));
    const V s = hn::IfThenElse(ignored, minus_inf, hn::LoadU(d, row + j));
    hn::StoreU(s, d, row + j);
    hn::StoreU(hn::Max(s, hn::LoadU(d, column_max + j)), d, column_max + j);
    const auto is_forbidden = hn::Eq(s, minus_inf);
    const auto is_fine = hn::Or(hn::Le(hn::Abs(s), limit), is_forbidden);  // False for NaN.
    bad = hn::Add(bad, hn::IfThenZeroElse(is_fine, one));
    forbidden = hn::Add(forbidden, hn::IfThenElseZero(hn::AndNot(ignored, is_forbidden), one));
  }
  return (hn::GetLane(hn::SumOfLanes(d, bad)) != 0 ? kBad : 0) |
         (hn::GetLane(hn::SumOfLanes(d, forbidden)) != 0 ? kForbidden : 0);
}

// Row `head` of the view, converted, into dst[0..n].
void copy_row(const ScoreView& view, int head, double* HWY_RESTRICT dst) {
  const size_t count = static_cast<size_t>(view.n()) + 1;
  const std::ptrdiff_t offset = head * view.head_stride();
  const std::ptrdiff_t stride = view.modifier_stride();
  if (const double* wide = view.double_data()) {
    wide += offset;
    if (stride == 1) {
      std::copy(wide, wide + count, dst);
    } else {
      for (size_t m = 0; m < count; ++m) dst[m] = wide[static_cast<std::ptrdiff_t>(m) * stride];
    }
    return;
  }
  const float* narrow = view.float_data() + offset;
  for (size_t m = 0; m < count; ++m) {
    dst[m] = static_cast<double>(narrow[static_cast<std::ptrdiff_t>(m) * stride]);
  }
}

// Copies and checks all rows; column_max[0..ld) takes the maxima over the word heads.
int load_rows(const ScoreView& view, ScoreTable& table, double* column_max) {
  const auto n = static_cast<size_t>(view.n());
  int findings = 0;
  for (size_t head = 0; head <= n; ++head) {
    double* row = table.scores.data() + head * table.ld;
    copy_row(view, static_cast<int>(head), row);
    std::fill(row + n + 1, row + table.ld, -HUGE_VAL);
    if (head <= 1) std::fill(column_max, column_max + table.ld, -HUGE_VAL);  // Drops ROOT's.
    findings |= check_row(row, head, n, table.ld, column_max);
  }
  return findings;
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(load_rows);

namespace {

Outcome first_bad_score(const ScoreTable& table) {
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 1; m <= table.n; ++m) {
      const double s = table.row(h)[m];
      if (s == -HUGE_VAL || std::abs(s) <= kMaxScore) continue;
      return {Status::kBadScore, h, m};
    }
  }
  return {Status::kBadScore, -1, -1};
}

// The exponent k of exp(s) = f * 2^k with f near 1.
double exponent_of(double s) { return std::nearbyint(s * kLog2e); }

void choose_scales(ScoreTable& table, const double* column_max) {
  const double* root_row = table.row(0);
  const bool single = table.root == RootRule::kSingle;
  double* scale = table.scale.data();
  double root_scale = -HUGE_VAL;
  double total = 0;
  std::fill(scale, scale + table.ld, 0.0);
  for (int m = 1; m <= table.n; ++m) {
    double top = column_max[m];
    if (!single || top == -HUGE_VAL) top = std::max(top, root_row[m]);
    scale[m] = top == -HUGE_VAL ? 0.0 : exponent_of(top);
    if (root_row[m] != -HUGE_VAL) {
      root_scale = std::max(root_scale, exponent_of(root_row[m]) - scale[m]);
    }
    total += scale[m];  // Exact while below 2^53, and relative accuracy is enough beyond.
  }
  table.root_scale = single && root_scale != -HUGE_VAL ? root_scale : 0.0;
  table.total_scale = total + table.root_scale;
}

}  // namespace

Outcome load_scores(const ScoreView& view, RootRule root, ScoreTable& table) {
  table.n = view.n();
  table.root = root;
  if (view.n() == 0) return {Status::kEmpty};
  const auto rows = static_cast<std::size_t>(view.n()) + 1;
  table.ld = leading_dimension(view.n());
  table.scores.resize(rows * table.ld);
  double* column_max = table.scale.resize(2 * table.ld) + table.ld;
  const int findings = HWY_DYNAMIC_DISPATCH(load_rows)(view, table, column_max);
  if ((findings & kBad) != 0) return first_bad_score(table);
  table.has_forbidden = (findings & kForbidden) != 0;
  choose_scales(table, column_max);
  return {};
}

double scaled_score(const ScoreTable& table, int head, int modifier) {
  const double s = table.row(head)[modifier];
  return s == -HUGE_VAL ? s : minus_k_ln2(s, table.scale[static_cast<std::size_t>(modifier)]);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
