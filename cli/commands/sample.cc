// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {
namespace {

// The trees of a chunk from the device: k n heads per sentence.
std::vector<std::vector<std::int32_t>> sample_on_device(Cuda& cuda, const Scores& scores,
                                                        const SampleOptions& how, std::size_t k,
                                                        std::uint32_t first) {
  std::vector<std::vector<std::int32_t>> trees(scores.size());
  std::vector<TreeBuffer> out;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    trees[i].resize(k * static_cast<std::size_t>(scores[i].n()));
    out.push_back({trees[i].data(), scores[i].n()});
  }
  std::vector<Outcome> outcomes(scores.size());
  sample(cuda, scores, k, how, outcomes, out, first);
  return trees;
}

void find_trees(Engine& engine, const Context& context, const SampleOptions& how,
                std::vector<SentenceTrees>& results) {
  const Scores scores(context.chunk.views, context.options.root);
  std::vector<Outcome> outcomes(results.size());
  std::vector<std::vector<std::int32_t>> trees;
  if (engine.has_cuda()) {
    trees = sample_on_device(engine.cuda(), scores, how, context.options.k, context.chunk.first());
  }
  for_each_factorization(engine.pool(), scores, outcomes,
                         [&](std::size_t i, const Factorization& f, Workspace& workspace) {
                           sample_trees(context, i, how, f, workspace, results[i].rows,
                                        trees.empty() ? nullptr : trees[i].data());
                         });
  for (std::size_t i = 0; i < results.size(); ++i) results[i].outcome = outcomes[i];
}

}  // namespace

int run_sample(const Options& options) {
  const SampleOptions how{algorithm_named(options.algorithm), options.seed, 0};
  return write_trees(
      options, IndexKind::kSample, options.k,
      [&](Engine& engine, const Context& context, std::vector<SentenceTrees>& results) {
        find_trees(engine, context, how, results);
      });
}

}  // namespace taproot::cli
