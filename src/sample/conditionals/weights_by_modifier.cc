// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/weights_by_modifier.h"

#include <algorithm>
#include <cmath>

#include "query/query.h"

namespace taproot::detail {
namespace {

// A single-root sentence has scales for its ROOT row and its words that do not go together. Where a
// walk draws ROOT among the other heads, each column is taken relative to its own largest score.
void fill_from_scores(const ScoreTable& table, double* out) {
  for (int m = 1; m <= table.n; ++m) {
    double* row = out + static_cast<std::size_t>(m) * table.ld;
    double top = -HUGE_VAL;
    for (int h = 0; h <= table.n; ++h) top = std::max(top, table.row(h)[m]);
    for (int h = 0; h <= table.n; ++h) {
      row[h] = table.allows(h, m) ? std::exp(table.row(h)[m] - top) : 0.0;
    }
  }
}

}  // namespace

const double* weights_by_modifier(const FactorData& data, bool with_root, Scratch& scratch) {
  const ScoreTable& table = data.table;
  const auto side = static_cast<std::size_t>(table.n) + 1;
  const std::size_t ld = table.ld;
  double* out = scratch.square.resize((side + 1) * ld);
  if (with_root && table.root == RootRule::kSingle) {
    fill_from_scores(table, out);
    return out;
  }
  double* memory = scratch.rows.resize(ld);
  for (std::size_t h = 0; h < side; ++h) {
    const double* weights = weights_of(data, static_cast<int>(h), memory);
    for (std::size_t m = 1; m < side; ++m) {
      out[m * ld + h] = h == 0 && !with_root ? 0.0 : weights[m];
    }
  }
  return out;
}

}  // namespace taproot::detail
