// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"
#include "eliminate/pool.h"
#include "taproot/decode.h"

namespace taproot {
namespace {

void check_sizes(const char* function, const Scores& scores, std::size_t outcomes,
                 std::size_t out) {
  detail::require(outcomes == scores.size(), function, "outcomes must have one entry per sentence");
  detail::require(out == scores.size(), function, "out must have one entry per sentence");
}

std::span<std::int32_t> heads_of(const TreeBuffer& buffer, const ScoreView& scores) {
  return {buffer.data, static_cast<std::size_t>(scores.n())};
}

}  // namespace

void argmax(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
            std::span<const TreeBuffer> out, std::span<double> scores_out) {
  check_sizes("argmax", scores, outcomes.size(), out.size());
  detail::require(scores_out.empty() || scores_out.size() == scores.size(), "argmax",
                  "scores_out must be empty or have one entry per sentence");
  Pool::Impl& impl = detail::Access::impl(pool);
  impl.parallel.for_each(scores.size(), [&](std::size_t b, std::size_t slot) {
    outcomes[b] = argmax(scores[b], scores.root_rule(), heads_of(out[b], scores[b]),
                         impl.slots[slot].workspace, scores_out.empty() ? nullptr : &scores_out[b]);
  });
}

void mbr(Pool& pool, const Scores& scores, std::span<Outcome> outcomes,
         std::span<const TreeBuffer> out) {
  check_sizes("mbr", scores, outcomes.size(), out.size());
  for_each_factorization(pool, scores, outcomes,
                         [&](std::size_t b, const Factorization& f, Workspace& workspace) {
                           mbr(f, heads_of(out[b], scores[b]), workspace);
                         });
}

void kbest(Pool& pool, const Scores& scores, std::size_t k, std::span<Outcome> outcomes,
           std::span<std::vector<ScoredTree>> out) {
  check_sizes("kbest", scores, outcomes.size(), out.size());
  Pool::Impl& impl = detail::Access::impl(pool);
  impl.parallel.for_each(scores.size(), [&](std::size_t b, std::size_t) {
    KBestIterator best;
    outcomes[b] = best.build(scores[b], scores.root_rule());
    if (!outcomes[b].ok()) return;
    out[b].clear();
    ScoredTree tree{Tree(static_cast<std::size_t>(scores[b].n())), 0};
    while (out[b].size() < k && best.next(tree.heads, tree.score)) out[b].push_back(tree);
  });
}

}  // namespace taproot
