// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {

int run_kbest(const Options& options) {
  return write_trees(options, IndexKind::kRank, options.k,
                     [&](Engine& engine, const Context& context, const GiveTrees& give) {
                       DependencyTrees trees = engine.trees(context.chunk, false);
                       std::vector<BestTrees> best(trees.size());
                       // One more than was asked for tells whether there are further trees.
                       const std::vector<Outcome> outcomes = trees.kbest(options.k + 1, true, best);
                       ChunkTrees found;
                       for (std::size_t i = 0; i < best.size(); ++i) {
                         SentenceTrees& own = found.sentences.emplace_back();
                         own.outcome = outcomes[i];
                         own.n = static_cast<std::size_t>(best[i].n);
                         own.count = std::min(best[i].size(), options.k);
                         own.exhausted = outcomes[i].ok() && best[i].size() <= options.k;
                         own.heads = std::move(best[i].heads);
                         own.labels = std::move(best[i].labels);
                         own.score = std::move(best[i].score);
                         own.log_prob = std::move(best[i].log_prob);
                       }
                       give(found);
                     });
}

}  // namespace taproot::cli
