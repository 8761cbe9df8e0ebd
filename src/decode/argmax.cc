// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/check.h"
#include "decode/decode_scratch.h"
#include "decode/load_columns.h"
#include "taproot/decode.h"

namespace taproot {

Outcome argmax(const ScoreView& scores, RootRule root, std::span<std::int32_t> heads, double* score,
               Workspace& workspace) {
  const int n = scores.n();
  const auto words = static_cast<std::size_t>(n);
  detail::require(heads.size() == words, "argmax", "heads must have n entries");
  auto& scratch = detail::Access::scratch(workspace).get<detail::DecodeScratch>();
  const Outcome outcome = detail::load_columns(scores, scratch.columns);
  if (!outcome.ok()) return outcome;
  const detail::EdgeGraph graph{nullptr, detail::leading_dimension(n), n, root, &scores};
  std::int32_t* by_word = scratch.heads.resize(words + 1);
  if (!scratch.edmonds.best_of(scratch.columns, graph, by_word)) return {Status::kNoTree};
  std::copy_n(by_word + 1, words, heads.data());
  if (score != nullptr) *score = detail::Edmonds::total(graph, by_word).score.value();
  return {};
}

ScoredTree argmax(const ScoreView& scores, RootRule root) {
  ScoredTree tree{Tree(static_cast<std::size_t>(scores.n())), 0};
  Workspace workspace;
  const Outcome outcome = argmax(scores, root, tree.heads, &tree.score, workspace);
  if (!outcome.ok()) throw SentenceError(outcome);
  return tree;
}

}  // namespace taproot
