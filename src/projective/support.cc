// SPDX-License-Identifier: Apache-2.0
#include "projective/support.h"

#include <algorithm>

namespace taproot::detail {
namespace {

// The chart of what is possible.
ChartView<Truth> fill_truth(const ScoreTable& table, ProjectiveScratch& scratch) {
  const ChartShape shape = chart_shape(table.n, table.root);
  const ChartView<Truth> c(scratch.truth.resize(shape.memory(kChartTables)), shape, kChartTables);
  load_diagonals(c, table.row(0), table.ld, Truth(0),
                 [](int, int, double score) { return Truth(score != -HUGE_VAL ? 1 : 0); });
  inside_simply(c);
  return c;
}

}  // namespace

bool has_projective_tree(const ScoreTable& table, ProjectiveScratch& scratch) {
  return fill_truth(table, scratch).total().value != 0;
}

void find_projective_support(const ScoreTable& table, ProjectiveScratch& scratch,
                             std::uint8_t* supported) {
  const ChartView<Truth> c = fill_truth(table, scratch);
  const ChartShape& shape = c.shape();
  const ChartView<Truth> out(scratch.out_truth.resize(shape.memory(kOutsideTables)), shape,
                             kOutsideTables);
  const MatrixView to(supported, table.nodes());
  std::fill_n(supported, table.nodes() * table.nodes(), std::uint8_t{0});
  outside_simply(c, Truth(1), out, [&](int d, int i, Truth right, Truth left) {
    const int node = i + shape.first;
    to(node, node + d) = (right * c(kRightEdge, d, i)).value;
    to(node + d, node) = (left * c(kLeftEdge, d, i)).value;
  });
  if (!shape.single()) return;
  for (int m = 0; m < shape.size; ++m) to(0, m + 1) = c.root_term(m).value;
}

}  // namespace taproot::detail
