// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {

int run_mbr(const Options& options) {
  return write_trees(options, IndexKind::kNone, 1,
                     [](Engine& engine, const Context& context, const GiveTrees& give) {
                       DependencyTrees trees = engine.trees(context.chunk, false);
                       ChunkTrees found{mbr_trees(trees)};
                       give(found);
                     });
}

}  // namespace taproot::cli
