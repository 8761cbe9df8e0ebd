// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "commands/commands.h"
#include "commands/number_file.h"
#include "commands/tree_results.h"
#include "error.h"
#include "picture/rendering.h"
#include "report/page.h"
#include "report/sentence_data.h"

namespace taproot::cli {

int run_report(const Options& options) {
  std::optional<Rendering> rendering;
  Options page_options = options;
  if (options.format != Format::kHtml) {
    rendering.emplace(Rendering::Kind::kPage, options.format, options.output);
    page_options.output = rendering->source();
  }
  ChunkReader reader(options, options.k);
  if (rendering && reader.sentences() > 1) {
    fail(
        "a report as {} shows one sentence, and the input has {}; choose one with --sentences N, "
        "or "
        "write the page with all of them (-o FILE.html)",
        to_string(options.format), reader.sentences());
  }
  Engine engine(options);
  ReportPage page(page_options);
  bool failed = false;
  Chunk chunk;
  while (reader.next(chunk)) {
    const Context context{options, chunk, reader.label_names()};
    DependencyTrees trees = engine.trees(chunk, true);
    const SampleOptions how{algorithm_named(options.algorithm), options.seed};
    std::vector<SentenceTrees> samples = sample_trees(trees, how, options.k);
    std::vector<std::vector<double>> marginals;
    std::vector<double> entropies(chunk.size());
    std::vector<double> log_partitions(chunk.size());
    const std::vector<Outcome> outcomes = find_marginals(trees, marginals);
    trees.entropy(entropies);
    trees.log_partition(log_partitions);
    std::vector<std::string> html(chunk.size());
    engine.pool().for_each(chunk.size(), [&](std::size_t i) {
      if (!outcomes[i].ok()) return;
      html[i] =
          sentence_html(context, i, {log_partitions[i], entropies[i], marginals[i], samples[i]});
    });
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      if (!outcomes[i].ok()) {
        failed = true;
        html[i] = failure_html(context, i, chunk.failure(i, outcomes[i]));
      }
      page.sentence(html[i]);
    }
  }
  page.finish();
  if (rendering) rendering->finish();
  return failed ? kSomeFailed : kAllFine;
}

}  // namespace taproot::cli
