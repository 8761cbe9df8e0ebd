// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/tree_results.h"
#include "error.h"
#include "report/page.h"
#include "report/sentence_data.h"

namespace taproot::cli {

int run_report(const Options& options) {
  ChunkReader reader(options, options.k);
  Engine engine(options);
  ReportPage page(options);
  bool failed = false;
  Chunk chunk;
  while (reader.next(chunk)) {
    const Context context{options, chunk, reader.label_names()};
    const Scores scores(chunk.views, options.root);
    std::vector<Outcome> outcomes(chunk.size());
    std::vector<std::string> html(chunk.size());
    for_each_factorization(engine.pool(), scores, outcomes,
                           [&](std::size_t i, const Factorization& f, Workspace& workspace) {
                             html[i] = sentence_html(context, i, f, workspace);
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
  return failed ? kSomeFailed : kAllFine;
}

}  // namespace taproot::cli
