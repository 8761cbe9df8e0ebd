// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "scores/score_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scores/load_scores.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "scores/rows-inl.h"
#include "scores/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Rows are loaded in strips of this many, kLanes columns at a time. The columns' maxima then stay
// in a register down the strip, and the strip is still in the cache for the next columns.
constexpr size_t kStrip = 32;
// So many columns of a short sentence can have their maxima in registers.
constexpr size_t kLoadedAtOnce = 8 * kLanes;

// Copies columns [j, j + kLanes) of rows [first, last) from source, writes -inf to the cells that
// hold no edge, and raises `top` to the maxima over heads that are words. Returns whether all edges
// have finite scores within the limits.
HWY_INLINE bool load_columns(const double* source, std::ptrdiff_t source_stride, size_t j,
                             size_t first, size_t last, size_t n, double* scores, size_t ld,
                             V& top) {
  const D d;
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  const V limit = hn::Set(d, kMaxScore);
  const V column = hn::Iota(d, static_cast<double>(j));
  const auto outside =
      hn::Or(hn::Eq(column, hn::Zero(d)), hn::Gt(column, hn::Set(d, static_cast<double>(n))));
  const bool whole = j + kLanes <= n + 1;
  const size_t present = n + 1 - std::min(j, n + 1);
  auto usual = hn::FirstN(d, kLanes);
  const auto visit = [&](size_t begin, size_t end, auto&& is_ignored) HWY_ATTR {
    for (size_t head = begin; head < end; ++head) {
      const double* from = source + static_cast<std::ptrdiff_t>(head) * source_stride +
                           static_cast<std::ptrdiff_t>(present == 0 ? 0 : j);
      const V raw = whole ? hn::LoadU(d, from) : load_partial(from, present);
      const auto ignored = is_ignored(head);
      const V s = hn::IfThenElse(ignored, minus_inf, raw);
      hn::StoreU(s, d, scores + head * ld + j);
      if (head > 0) top = hn::Max(top, s);
      // Not if it is beyond the limits, infinite or NaN. Usually all are.
      usual = hn::And(usual, hn::Or(ignored, hn::Le(hn::Abs(raw), limit)));
    }
  };
  // These columns meet the diagonal in the rows of heads [j, j + kLanes).
  const size_t diagonal = std::clamp(j, first, last);
  const size_t after = std::clamp(j + kLanes, first, last);
  const auto is_outside = [&](size_t) HWY_ATTR { return outside; };
  visit(first, diagonal, is_outside);
  visit(diagonal, after, [&](size_t head) HWY_ATTR {
    return hn::Or(outside, hn::Eq(column, hn::Set(d, static_cast<double>(head))));
  });
  visit(after, last, is_outside);
  return hn::AllTrue(d, usual);
}

// The same for all columns of a short sentence, kBlocks blocks of eight, row by row: memory is read
// in its order, and registers hold all maxima, which go to `top`. Only the last block has columns
// beyond n.
template <size_t kBlocks>
HWY_NOINLINE bool load_short(const double* source, std::ptrdiff_t source_stride, size_t n,
                             double* scores, double* HWY_RESTRICT top) {
  const D d;
  constexpr size_t kColumns = kBlocks * kBlock;
  constexpr size_t kParts = kColumns / kLanes;
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  const V limit = hn::Set(d, kMaxScore);
  const V last = hn::Set(d, static_cast<double>(n));
  V most[kParts];
  for (size_t i = 0; i < kParts; ++i) most[i] = minus_inf;
  auto usual = hn::FirstN(d, kLanes);
  for (size_t head = 0; head <= n; ++head) {
    const double* from = source + static_cast<std::ptrdiff_t>(head) * source_stride;
    double* to = scores + head * kColumns;
    const V own = hn::Set(d, static_cast<double>(head));
    for (size_t i = 0; i < kParts; ++i) {
      const size_t j = i * kLanes;
      V raw = minus_inf;
      if (j + kLanes <= n + 1) {
        raw = hn::LoadU(d, from + j);
      } else if (j <= n) {
        raw = load_partial(from + j, n + 1 - j);
      }
      const V column = hn::Iota(d, static_cast<double>(j));
      auto ignored = hn::Eq(column, own);
      if (j == 0) ignored = hn::Or(ignored, hn::Eq(column, hn::Zero(d)));
      if (j + kBlock >= kColumns) ignored = hn::Or(ignored, hn::Gt(column, last));
      const V s = hn::IfThenElse(ignored, minus_inf, raw);
      hn::StoreU(s, d, to + j);
      usual = hn::And(usual, hn::Or(ignored, hn::Le(hn::Abs(raw), limit)));
      if (head > 0) most[i] = hn::Max(most[i], s);
    }
  }
  for (size_t i = 0; i < kParts; ++i) hn::StoreU(most[i], d, top + i * kLanes);
  return hn::AllTrue(d, usual);
}

// Copies all rows into the table, and the columns' maxima over word heads into table.scale. Returns
// whether all scores are finite and within the limits, so that none is forbidden or bad.
bool load_rows(const ScoreView& view, ScoreTable& table) {
  const D d;
  const auto n = static_cast<size_t>(view.n());
  double* scores = table.scores.data();
  const bool direct = view.double_data() != nullptr && view.modifier_stride() == 1;
  const double* source = direct ? view.double_data() : scores;
  const auto source_stride = direct ? view.head_stride() : static_cast<std::ptrdiff_t>(table.ld);
  double* HWY_RESTRICT top = table.scale.data();
  if (direct && n <= kStrip && table.ld <= kLoadedAtOnce) {
    switch (table.ld / kBlock) {
      case 1:
        return load_short<1>(source, source_stride, n, scores, top);
      case 2:
        return load_short<2>(source, source_stride, n, scores, top);
      case 3:
        return load_short<3>(source, source_stride, n, scores, top);
      case 4:
        return load_short<4>(source, source_stride, n, scores, top);
      case 5:
        return load_short<5>(source, source_stride, n, scores, top);
      default:
        break;
    }
  }
  bool ordinary = true;
  for (size_t first = 0; first <= n; first += kStrip) {
    const size_t last = std::min(first + kStrip, n + 1);
    if (!direct) {
      for (size_t head = first; head < last; ++head) copy_row(view, head, scores + head * table.ld);
    }
    for (size_t j = 0; j < table.ld; j += kLanes) {
      V maximum = first == 0 ? hn::Set(d, -HUGE_VAL) : hn::LoadU(d, top + j);
      ordinary &= load_columns(source, source_stride, j, first, last, n, scores, table.ld, maximum);
      hn::StoreU(maximum, d, top + j);
    }
  }
  return ordinary;
}

// Turns the maxima over word heads in table.scale into the scales.
void choose_scales(ScoreTable& table) {
  const D d;
  const bool single = table.root == RootRule::kSingle;
  double* HWY_RESTRICT scale = table.scale.data();
  V root_scale = hn::Set(d, -HUGE_VAL);
  V furthest = hn::Zero(d);
  double total = 0;
  for (size_t j = 0; j < table.ld; j += kLanes) {
    const V root = hn::LoadU(d, table.row(0) + j);
    const V chosen = column_scales(hn::LoadU(d, scale + j), root, single);
    hn::StoreU(chosen, d, scale + j);
    root_scale = hn::Max(root_scale, root_scales(root, chosen));
    furthest = hn::Max(furthest, hn::Abs(chosen));
    total += hn::GetLane(hn::SumOfLanes(d, chosen));  // Integers, so exact below 2^53.
  }
  const double root_top = hn::GetLane(hn::MaxOfLanes(d, root_scale));
  table.root_scale = single && root_top != -HUGE_VAL ? root_top : 0.0;
  table.total_scale = total + table.root_scale;
  table.furthest_scale = hn::GetLane(hn::MaxOfLanes(d, furthest)) + std::abs(table.root_scale);
  // The second row of scales is for the ROOT row.
  for (size_t j = 0; j < table.ld; j += kLanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, scale + j), hn::Set(d, table.root_scale)), d,
               scale + table.ld + j);
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(load_rows);
HWY_EXPORT(choose_scales);

namespace {

// Reports the first bad score in row-major order, or ok if there is none.
Outcome find_bad_score(const ScoreTable& table) {
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 1; m <= table.n; ++m) {
      const double s = table.row(h)[m];
      if (s != -HUGE_VAL && !(std::abs(s) <= kMaxScore)) return {Status::kBadScore, h, m};
    }
  }
  return {};
}

}  // namespace

Outcome load_scores(const ScoreView& view, RootRule root, ScoreTable& table) {
  table.n = view.n();
  table.root = root;
  if (view.n() == 0) return {Status::kEmpty};
  table.ld = leading_dimension(view.n());
  table.scores.resize(table.size());
  table.scale.resize(2 * table.ld);
  table.has_forbidden = !HWY_DYNAMIC_DISPATCH(load_rows)(view, table);
  if (table.has_forbidden) {  // Or it has bad scores, which are looked for here.
    const Outcome outcome = find_bad_score(table);
    if (!outcome.ok()) return outcome;
  }
  HWY_DYNAMIC_DISPATCH(choose_scales)(table);
  return {};
}

double scaled_score(const ScoreTable& table, int head, int modifier) {
  const double s = table.row(head)[modifier];
  if (s == -HUGE_VAL) return s;
  return minus_k_ln2(s, table.scale_of(head, modifier));
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
