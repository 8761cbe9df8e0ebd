// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {

int run_sample(const Options& options) {
  return write_trees(
      options, IndexKind::kSample, options.k,
      [&](Engine& engine, const Context& context, const GiveTrees& give) {
        const Chunk& chunk = context.chunk;
        const std::size_t block =
            chunk.size() == 1 ? trees_at_a_time(options, engine.pool(), chunk.sentences[0].n)
                              : std::max<std::size_t>(1, options.k);
        DependencyTrees trees = engine.trees(chunk, block < options.k);
        SampleOptions how{algorithm_named(options.algorithm), options.seed};
        ChunkTrees found;
        for (std::size_t first = 0; first == 0 || first < options.k; first += block) {
          const std::size_t count = std::min(block, options.k - first);
          how.first_tree = static_cast<std::uint32_t>(first);
          found.sentences = sample_trees(trees, how, count, std::move(found.sentences));
          found.first_tree = first;
          found.last = first + count >= options.k;
          give(found);
        }
      });
}

}  // namespace taproot::cli
