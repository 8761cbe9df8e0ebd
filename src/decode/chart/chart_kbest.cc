// SPDX-License-Identifier: Apache-2.0
#include "decode/chart/chart_kbest.h"

#include <algorithm>
#include <cmath>

namespace taproot::detail {
namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

constexpr auto kLess = [](const auto& a, const auto& b) { return a.value < b.value; };

}  // namespace

Outcome ChartKBest::build(const ScoreView& scores, RootRule root) {
  cells_.clear();
  given_ = 0;
  const Outcome outcome = chart_.build(scores, root);
  if (!outcome.ok()) return outcome;
  const ChartShape& shape = chart_.shape();
  places_.assign(3 * shape.rows() * shape.rows() + 1, -1);
  top_ = find_cell({shape.single() ? ChartCell::kRoot : ChartCell::kRightSpan, shape.size - 1, 0});
  return {};
}

ChartKBest::Parts ChartKBest::parts_of(const ChartCell& cell, int e) const {
  const int i = cell.i;
  const int d = cell.d;
  switch (cell.kind) {
    case ChartCell::kRoot:
      return {true, -1, e, {{ChartCell::kLeftSpan, e, 0}, {ChartCell::kRightSpan, d - e, e}}};
    case ChartCell::kRightSpan:
      return {true,
              i,
              i + e + 1,
              {{ChartCell::kSplitSpan, e + 1, i}, {ChartCell::kRightSpan, d - 1 - e, i + e + 1}}};
    case ChartCell::kLeftSpan:
      return {true,
              i + d,
              i + e,
              {{ChartCell::kLeftSpan, e, i}, {ChartCell::kSplitSpan, d - e, i + e}}};
    default:
      return {false,
              0,
              0,
              {{ChartCell::kRightSpan, e, i}, {ChartCell::kLeftSpan, d - 1 - e, i + e + 1}}};
  }
}

// The number of a cell. When it is met for the first time, its frontier is all its splits.
std::int32_t ChartKBest::find_cell(const ChartCell& cell) {
  const std::size_t rows = chart_.shape().rows();
  const std::size_t place =
      cell.kind == ChartCell::kRoot
          ? places_.size() - 1
          : (index(cell.kind - 1) * rows + index(cell.d)) * rows + index(cell.i);
  if (places_[place] >= 0) return places_[place];
  places_[place] = static_cast<std::int32_t>(cells_.size());
  Cell made{cell, {}, {}};
  for (int e = 0; e < choice_count(chart_.shape(), cell); ++e) {
    const double value = chart_.value(cell, e);
    if (value > -HUGE_VAL) made.frontier.push_back({value, e, {0, 0}});
  }
  std::make_heap(made.frontier.begin(), made.frontier.end(), kLess);
  cells_.push_back(std::move(made));
  return places_[place];
}

bool ChartKBest::is_known(const ChartCell& cell, std::int32_t rank) {
  if (rank == 0) return true;
  return !is_trivial(cell) && find(find_cell(cell), rank);
}

// The value of a way that is known. The best ones are in the chart.
double ChartKBest::value_of(const ChartCell& cell, std::int32_t rank) {
  constexpr ChartTable kTables[] = {kRight, kRight, kLeft, kSplit};
  if (rank == 0) return is_trivial(cell) ? 0.0 : chart_.view()(kTables[cell.kind], cell.d, cell.i);
  return cells_[index(find_cell(cell))].found[index(rank)].value;
}

void ChartKBest::add_neighbor(std::int32_t cell, std::int32_t e, std::int32_t left,
                              std::int32_t right) {
  const ChartCell own = cells_[index(cell)].cell;
  const Parts parts = parts_of(own, e);
  if (!is_known(parts.below[0], left) || !is_known(parts.below[1], right)) return;
  double value = value_of(parts.below[0], left) + value_of(parts.below[1], right);
  if (parts.has_edge) {
    const ChartView<const double> c = chart_.view();
    const int low = std::min(parts.head, parts.modifier);
    const int d = std::abs(parts.head - parts.modifier);
    value += parts.head < 0                ? c.roots()[parts.modifier]
             : parts.head < parts.modifier ? c(kRightWeight, d, low)
                                           : c(kLeftWeight, d, low);
  }
  std::vector<Way>& frontier = cells_[index(cell)].frontier;
  frontier.push_back({value, e, {left, right}});
  std::push_heap(frontier.begin(), frontier.end(), kLess);
}

// Adds the neighbors of the last way found. From (0, 0), every pair of ranks is reached by one
// path: first up on the left, then up on the right.
void ChartKBest::extend(std::int32_t cell) {
  if (cells_[index(cell)].extended) return;
  cells_[index(cell)].extended = true;
  const Way last = cells_[index(cell)].found.back();
  add_neighbor(cell, last.e, last.rank[0], last.rank[1] + 1);
  if (last.rank[1] == 0) add_neighbor(cell, last.e, last.rank[0] + 1, 0);
}

bool ChartKBest::find(std::int32_t cell, std::int32_t rank) {
  while (cells_[index(cell)].found.size() <= index(rank)) {
    if (!find_next(cell)) return false;
  }
  return true;
}

bool ChartKBest::find_next(std::int32_t cell) {
  extend(cell);
  const ChartCell own = cells_[index(cell)].cell;
  const auto pop = [&] {
    std::vector<Way>& frontier = cells_[index(cell)].frontier;
    std::pop_heap(frontier.begin(), frontier.end(), kLess);
    const Way way = frontier.back();
    frontier.pop_back();
    return way;
  };
  if (cells_[index(cell)].frontier.empty()) return false;
  std::vector<Way> close = {pop()};
  const double top = close[0].value;
  // ROOT edges may have the other sign, so that a small sum may have large terms.
  const auto size = [&](const Way& way) {
    if (own.kind != ChartCell::kRoot) return way.value;
    return 4 * (std::abs(way.value) + std::abs(chart_.view().roots()[way.e]));
  };
  while (!cells_[index(cell)].frontier.empty()) {
    const Way& rival = cells_[index(cell)].frontier.front();
    if (top - rival.value > chart_.tolerance(size(close[0]), size(rival))) break;
    close.push_back(pop());
  }
  std::size_t best = 0;
  for (std::size_t i = 0; i < close.size() && close.size() > 1; ++i) {
    evaluate(own, close[i]);
    if (i > 0 && is_better(own, close[i], close[best])) best = i;
  }
  evaluate(own, close[best]);
  Cell& found_in = cells_[index(cell)];
  for (std::size_t i = 0; i < close.size(); ++i) {
    if (i == best) continue;
    found_in.frontier.push_back(close[i]);
    std::push_heap(found_in.frontier.begin(), found_in.frontier.end(), kLess);
  }
  found_in.found.push_back(close[best]);
  found_in.extended = false;
  return true;
}

// Finds the ways below it, and sums its scores without rounding as far as two doubles hold.
void ChartKBest::evaluate(const ChartCell& cell, Way& way) {
  if (way.evaluated) return;
  way.evaluated = true;
  const Parts parts = parts_of(cell, way.e);
  if (parts.has_edge) {
    way.exact.high = chart_.score(parts.head, parts.modifier);
    way.order =
        order_of({parts.head < 0 ? 0 : chart_.node(parts.head), chart_.node(parts.modifier)});
  }
  for (int side = 0; side < 2; ++side) {
    if (is_trivial(parts.below[side])) continue;
    const std::int32_t below = find_cell(parts.below[side]);
    find(below, way.rank[side]);
    const Way& part = cells_[index(below)].found[index(way.rank[side])];
    way.exact = way.exact + part.exact;
    way.order += part.order;
  }
}

bool ChartKBest::is_better(const ChartCell& cell, const Way& a, const Way& b) {
  const BoundedSum difference = a.exact - b.exact;
  int sign = difference.sign();
  if (!difference.is_certain()) {
    ExactSum sum;
    for_each_edge(cell, a, [&](int h, int m) { sum.add(chart_.score(h, m)); });
    for_each_edge(cell, b, [&](int h, int m) { sum.add(-chart_.score(h, m)); });
    sign = sum.sign();
  }
  return sign != 0 ? sign > 0 : static_cast<std::int64_t>(a.order - b.order) > 0;
}

// Calls visit(head, modifier) for the edges of a way that was evaluated.
template <typename Visit>
void ChartKBest::for_each_edge(const ChartCell& cell, const Way& way, Visit&& visit) {
  const Parts parts = parts_of(cell, way.e);
  if (parts.has_edge) visit(parts.head, parts.modifier);
  for (int side = 0; side < 2; ++side) {
    if (is_trivial(parts.below[side])) continue;
    const Cell& below = cells_[index(find_cell(parts.below[side]))];
    for_each_edge(below.cell, below.found[index(way.rank[side])], visit);
  }
}

bool ChartKBest::next(std::span<std::int32_t> heads, double& score) {
  if (cells_.empty() || !find(top_, given_)) return false;
  const Cell& top = cells_[index(top_)];
  ExactSum sum;
  for_each_edge(top.cell, top.found[index(given_)], [&](int head, int modifier) {
    heads[index(chart_.node(modifier) - 1)] = head < 0 ? 0 : chart_.node(head);
    sum.add(chart_.score(head, modifier));
  });
  score = sum.value();
  ++given_;
  return true;
}

}  // namespace taproot::detail
