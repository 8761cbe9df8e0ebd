// SPDX-License-Identifier: Apache-2.0
#include "eliminate/condition.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "eliminate/eliminate_scratch.h"

namespace taproot::detail {

void eliminate_given_root(const FactorData& data, int root, FactorData& out, Scratch& scratch) {
  const ScoreTable& table = data.table;
  double* scores = scratch.get<EliminateScratch>().rooted_scores.resize(table.size());
  std::copy_n(table.row(0), table.size(), scores);
  for (int m = 1; m <= table.n; ++m) {
    if (m != root) scores[m] = -HUGE_VAL;
  }
  const ScoreView view(scores, table.n, static_cast<std::ptrdiff_t>(table.ld), 1);
  eliminate_into(out, view, RootRule::kSingle, scratch);
  TAPROOT_ASSERT(out.outcome.ok());
}

}  // namespace taproot::detail
