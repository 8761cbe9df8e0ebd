// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {
namespace {

void add_rows(const Context& context, std::size_t i, const WithoutReplacementSample& sample,
              SentenceTrees& result) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(sample.n));
  for (std::size_t s = 0; s < sample.size(); ++s) {
    TreeRow row = row_of(context, i, s, sample[s]);
    row.log_prob = sample.log_prob[s];
    row.gumbel = sample.gumbel[s];
    row.weight = sample.weight[s];
    if (context.labeled()) {  // The trees are distinct; labels are sampled given the tree.
      sample_labels(context.labels(i), sample[s], context.options.seed,
                    static_cast<std::uint32_t>(context.number(i)), static_cast<std::uint32_t>(s),
                    labels);
      context.name_labels(labels, row);
    }
    result.rows.push_back(std::move(row));
  }
  result.exhausted = sample.exhausted;
}

}  // namespace

int run_swor(const Options& options) {
  const WithoutReplacementOptions how{without_replacement_algorithm_named(options.algorithm),
                                      options.seed};
  return write_trees(
      options, IndexKind::kSample, options.k,
      [&](Engine& engine, const Context& context, std::vector<SentenceTrees>& results) {
        const Scores scores(context.chunk.views, options.root);
        std::vector<Outcome> outcomes(results.size());
        std::vector<WithoutReplacementSample> samples(results.size());
        engine.on_device([&](auto& where) {
          sample_without_replacement(where, scores, options.k, how, outcomes, samples,
                                     context.chunk.first());
        });
        for (std::size_t i = 0; i < results.size(); ++i) {
          results[i].outcome = outcomes[i];
          add_rows(context, i, samples[i], results[i]);
        }
      });
}

}  // namespace taproot::cli
