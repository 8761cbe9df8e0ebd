// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/check.h"
#include "core/exact_sum.h"
#include "decode/chart/chart_kbest.h"
#include "decode/decode_scratch.h"
#include "decode/load_columns.h"
#include "taproot/decode.h"

namespace taproot {
namespace detail {
namespace {

// The best tree of all, by contraction. Scores must not be summed before they are checked.
Outcome best_of_all(const ScoreView& scores, RootRule root, std::span<std::int32_t> heads,
                    DecodeScratch& scratch) {
  const int n = scores.n();
  const Outcome outcome = load_columns(scores, scratch.columns);
  if (!outcome.ok()) return outcome;
  const EdgeGraph graph{nullptr, leading_dimension(n), n, root, &scores};
  std::int32_t* by_word = scratch.heads.resize(heads.size() + 1);
  if (!scratch.edmonds.best_of(scratch.columns, graph, by_word)) return {Status::kNoTree};
  std::copy_n(by_word + 1, heads.size(), heads.data());
  return {};
}

// The best projective tree, by a chart; where its rounding does not decide, without rounding.
Outcome best_projective(const ScoreView& scores, RootRule root, std::span<std::int32_t> heads,
                        DecodeScratch& scratch) {
  const Outcome outcome = scratch.chart.build(scores, root);
  if (!outcome.ok() || scratch.chart.walk(heads.data(), scratch.cells)) return outcome;
  ChartKBest ranked;
  double score = 0;
  ranked.build(scores, root);
  ranked.next(heads, score);
  return {};
}

}  // namespace
}  // namespace detail

Outcome argmax(const ScoreView& scores, RootRule root, TreeFamily family,
               std::span<std::int32_t> heads, double* score, Workspace& workspace) {
  detail::require(std::ssize(heads) == scores.n(), "argmax", "heads must have n entries");
  auto& scratch = detail::Access::scratch(workspace).get<detail::DecodeScratch>();
  const auto find =
      family == TreeFamily::kProjective ? detail::best_projective : detail::best_of_all;
  const Outcome outcome = find(scores, root, heads, scratch);
  if (outcome.ok() && score != nullptr) {
    detail::ExactSum sum;
    int m = 0;
    for (const std::int32_t head : heads) sum.add(scores(head, ++m));
    *score = sum.value();
  }
  return outcome;
}

Outcome argmax(const ScoreView& scores, RootRule root, std::span<std::int32_t> heads, double* score,
               Workspace& workspace) {
  return argmax(scores, root, TreeFamily::kAll, heads, score, workspace);
}

ScoredTree argmax(const ScoreView& scores, RootRule root, TreeFamily family) {
  ScoredTree tree{Tree(static_cast<std::size_t>(scores.n())), 0};
  Workspace workspace;
  const Outcome outcome = argmax(scores, root, family, tree.heads, &tree.score, workspace);
  if (!outcome.ok()) throw SentenceError(outcome);
  return tree;
}

}  // namespace taproot
