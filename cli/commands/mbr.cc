// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {
namespace {

void find_trees(Engine& engine, const Context& context, std::vector<SentenceTrees>& results) {
  const Scores scores(context.chunk.views, context.options.root);
  std::vector<Outcome> outcomes(results.size());
  for_each_factorization(engine.pool(), scores, outcomes,
                         [&](std::size_t i, const Factorization& f, Workspace& workspace) {
                           Tree heads(static_cast<std::size_t>(f.n()));
                           mbr(f, heads, workspace);
                           results[i].rows.push_back(row_of(context, i, 0, heads));
                           complete(context, i, f, results[i].rows.back());
                         });
  for (std::size_t i = 0; i < results.size(); ++i) results[i].outcome = outcomes[i];
}

}  // namespace

int run_mbr(const Options& options) {
  return write_trees(options, IndexKind::kNone, 1, find_trees);
}

}  // namespace taproot::cli
