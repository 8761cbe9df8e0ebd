// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/weights_by_modifier.h"

#include <algorithm>
#include <cmath>

#include "eliminate/eliminate_scratch.h"
#include "query/query.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {
namespace {

// The scaled weights of a single-root sentence have a different scale in the ROOT row. If a walk
// chooses ROOT among the other heads, each row is instead taken relative to its largest score.
void fill_from_scores(const ScoreTable& table, double* out) {
  for (int m = 1; m <= table.n; ++m) {
    double* row = MatrixView(out, table.ld).row(m);
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
  SampleScratch& own = scratch.get<SampleScratch>();
  double* out = matrix_memory(data, own.weights_by_modifier, scratch);
  if (with_root && table.root == RootRule::kSingle) {
    fill_from_scores(table, out);
    return out;
  }
  const MatrixView by_modifier(out, table.ld);
  double* memory = own.head_weights.resize(table.ld);
  for (int h = 0; h <= table.n; ++h) {
    const double* weights = weights_of(data, h, memory);
    const double factor = h == 0 && !with_root ? 0.0 : 1.0;
    for (int m = 1; m <= table.n; ++m) by_modifier(m, h) = factor * weights[m];
  }
  return out;
}

}  // namespace taproot::detail
