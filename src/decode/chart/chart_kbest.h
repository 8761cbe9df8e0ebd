// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/chart/best_chart.h"
#include "decode/chart/bounded_sum.h"
#include "decode/tree_cost.h"

namespace taproot::detail {

/// The projective trees of a sentence by rank, lazily: algorithm 3 of Huang and Chiang (2005) on
/// the chart over (max, +). Every tree has one derivation, so none comes twice. A cell that is
/// asked for its k-th best derivation knows the k - 1 before, and the alternatives that may come
/// next: all its splits with the best on both sides, and neighbors of those given out.
///
/// Alternatives are compared by the chart's rounded numbers. Where these do not decide, they are
/// compared without rounding, and ties are broken as in TreeCost.
class ChartKBest {
 public:
  /// Loads the scores and fills the chart.
  Outcome build(const ScoreView& scores, RootRule root);

  /// The next tree, [n]; false if there is none.
  bool next(std::span<std::int32_t> heads, double& score);

 private:
  // A way to fill a cell: a split and, for the two cells below, the ranks of their ways. `exact`
  // and `order` are known once the way was found, or compared without rounding.
  struct Way {
    double value;  // As in BestChart::value().
    std::int32_t e;
    std::int32_t rank[2];
    bool evaluated = false;
    BoundedSum exact{};
    std::uint64_t order = 0;
  };
  struct Cell {
    ChartCell cell;
    std::vector<Way> found;     // In order.
    std::vector<Way> frontier;  // A heap by value.
    bool extended = true;       // Whether the neighbors of the last one found are in the frontier.
  };
  // What an alternative of a cell consists of: perhaps an edge, and two cells.
  struct Parts {
    bool has_edge = false;
    int head = 0;
    int modifier = 0;
    ChartCell below[2] = {};
  };

  static bool is_trivial(const ChartCell& cell) {
    return cell.d == 0 || (cell.kind == ChartCell::kSplitSpan && cell.d == 1);
  }
  Parts parts_of(const ChartCell& cell, int e) const;
  std::int32_t find_cell(const ChartCell& cell);
  // Whether the cell has a way of this rank, which is then found.
  bool find(std::int32_t cell, std::int32_t rank);
  bool find_next(std::int32_t cell);
  void extend(std::int32_t cell);
  bool is_known(const ChartCell& cell, std::int32_t rank);
  double value_of(const ChartCell& cell, std::int32_t rank);
  void add_neighbor(std::int32_t cell, std::int32_t e, std::int32_t left, std::int32_t right);
  void evaluate(const ChartCell& cell, Way& way);
  bool is_better(const ChartCell& cell, const Way& a, const Way& b);
  template <typename Visit>
  void for_each_edge(const ChartCell& cell, const Way& way, Visit&& visit);

  BestChart chart_;
  std::vector<std::int32_t> places_;  // The number of each cell of the chart, or -1.
  std::vector<Cell> cells_;
  std::int32_t given_ = 0;
  std::int32_t top_ = 0;
};

}  // namespace taproot::detail
