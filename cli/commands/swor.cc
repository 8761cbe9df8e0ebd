// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {

int run_swor(const Options& options) {
  const WithoutReplacementOptions how{without_replacement_algorithm_named(options.algorithm),
                                      options.seed};
  return write_trees(options, IndexKind::kSample, options.k,
                     [&](Engine& engine, const Context& context, const GiveTrees& give) {
                       DependencyTrees trees = engine.trees(context.chunk, false);
                       std::vector<WithoutReplacementSample> samples(trees.size());
                       const std::vector<Outcome> outcomes =
                           trees.sample_without_replacement(options.k, how, samples);
                       ChunkTrees found;
                       for (std::size_t i = 0; i < samples.size(); ++i) {
                         WithoutReplacementSample& sample = samples[i];
                         SentenceTrees& own = found.sentences.emplace_back();
                         own.outcome = outcomes[i];
                         own.n = static_cast<std::size_t>(sample.n);
                         own.count = sample.size();
                         own.exhausted = sample.exhausted;
                         own.heads = std::move(sample.heads);
                         own.labels = std::move(sample.labels);
                         own.log_prob = std::move(sample.log_prob);
                         own.gumbel = std::move(sample.gumbel);
                         own.weight = std::move(sample.weight);
                       }
                       give(found);
                     });
}

}  // namespace taproot::cli
