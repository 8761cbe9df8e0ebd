// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "projective/chart.h"
#include "sample/chart/chart_cell.h"
#include "scores/score_table.h"

namespace taproot::detail {

/// The chart over (max, +): the score of the best way to fill each span. Scores are less the
/// largest of their column, so that none is positive (single-root: none but those of ROOT). A sum
/// of such numbers has a small relative error, and large offsets and masks cost nothing.
class BestChart {
 public:
  /// Loads the scores and fills the chart. O(n^3).
  Outcome build(const ScoreView& scores, RootRule root);

  const ScoreTable& table() const { return table_; }
  const ChartShape& shape() const { return shape_; }
  ChartView<const double> view() const { return {memory_.data(), shape_, kChartTables}; }
  int node(int position) const { return position + shape_.first; }
  /// The score of the edge between two positions, of which the head may be -1 for ROOT.
  double score(int head, int modifier) const {
    return table_.row(head < 0 ? 0 : node(head))[node(modifier)];
  }

  /// The score of alternative e of a cell, with the best in all cells below, less the tops of its
  /// columns.
  double value(const ChartCell& cell, int e) const;

  /// How far apart two such scores must be for the larger one to be better without rounding.
  double tolerance(double a, double b) const {
    return relative_error_ * (std::abs(a) + std::abs(b));
  }

  /// Finds the best tree by walking the chart. Returns false if somewhere rounding does not tell
  /// the best alternative from others.
  bool walk(std::int32_t* heads, Buffer<ChartCell>& cells) const;

 private:
  ScoreTable table_;
  ChartShape shape_;
  Buffer<double> tops_;
  Buffer<double> memory_;
  double relative_error_ = 0;
};

}  // namespace taproot::detail
