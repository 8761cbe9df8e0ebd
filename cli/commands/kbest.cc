// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {

int run_kbest(const Options& options) {
  return write_trees(
      options, IndexKind::kRank, options.k,
      [&](Engine& engine, const Context& context, std::vector<SentenceTrees>& results) {
        decode(engine.pool(), context, options.k, results);
      });
}

}  // namespace taproot::cli
