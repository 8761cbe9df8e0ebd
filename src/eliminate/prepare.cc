// SPDX-License-Identifier: Apache-2.0
#include "eliminate/prepare.h"

#include <algorithm>

#include "eliminate/eliminate_scratch.h"
#include "eliminate/order.h"
#include "scores/weights.h"

namespace taproot::detail {

Outcome prepare(FactorData& data, const ScoreView& scores, RootRule root, Scratch& scratch,
                Prepared& prepared) {
  // If something below throws, the factorization is left without an answer.
  data.outcome = {Status::kEmpty};
  data.has_marginals = false;
  data.wide = false;
  const Outcome outcome = load_scores(scores, root, data.table);
  if (!outcome.ok()) return data.outcome = outcome;
  EliminateScratch& own = scratch.get<EliminateScratch>();
  const int n = data.table.n;
  const std::size_t ld = data.table.ld;
  if (!find_last_words(data.table, own.reach, data.last.resize(data.table.nodes()))) {
    return data.outcome = {Status::kNoTree};
  }
  double* weights =
      (data.has_weights() ? data.weights : own.weights).resize(data.table.size() + ld);
  double* sums = own.column_sums.resize(2 * ld);
  prepared.flushed = std::max(fill_weights(data.table, 0, 1, weights),
                              fill_weights(data.table, 1, n + 1, weights + ld, sums));
  std::fill(weights + data.table.size(), weights + data.table.size() + ld, 0.0);
  prepared.weights = weights;
  prepared.bound = choose_order(data, weights, sums);
  return data.outcome = {};
}

}  // namespace taproot::detail
