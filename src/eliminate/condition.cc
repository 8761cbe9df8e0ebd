// SPDX-License-Identifier: Apache-2.0
#include "eliminate/condition.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace taproot::detail {

void eliminate_given_root(const FactorData& data, int root, Scratch& scratch) {
  const ScoreTable& table = data.table;
  const std::size_t size = (static_cast<std::size_t>(table.n) + 1) * table.ld;
  double* scores = scratch.probabilities.resize(size);
  std::copy(table.row(0), table.row(0) + size, scores);
  for (int m = 1; m <= table.n; ++m) {
    if (m != root) scores[m] = -HUGE_VAL;
  }
  const ScoreView view(scores, table.n, static_cast<std::ptrdiff_t>(table.ld), 1);
  eliminate_into(scratch.other, view, RootRule::kSingle, scratch);
  TAPROOT_ASSERT(scratch.other.outcome.ok());
}

}  // namespace taproot::detail
