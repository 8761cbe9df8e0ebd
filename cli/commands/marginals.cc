// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "commands/commands.h"
#include "commands/number_file.h"
#include "engine.h"
#include "taproot/taproot.h"

namespace taproot::cli {

int run_marginals(const Options& options) {
  constexpr Format kFormats[] = {Format::kJsonl, Format::kNpz};
  Engine engine(options);
  ChunkReader reader(options, 1);
  NumberFile file(options, "marginals", kFormats);
  Chunk chunk;
  while (reader.next(chunk)) {
    const Scores scores(chunk.views, options.root);
    std::vector<Outcome> outcomes(chunk.size());
    std::vector<std::vector<double>> matrices(chunk.size());
    std::vector<EdgeMatrix> out;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const std::size_t side = static_cast<std::size_t>(chunk.sentences[i].n) + 1;
      matrices[i].assign(side * side, NAN);
      out.push_back({matrices[i].data(), static_cast<std::ptrdiff_t>(side)});
    }
    engine.on_device([&](auto& where) { marginals(where, scores, outcomes, out); });
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      file.sentence(chunk, i, outcomes[i], matrices[i]);
    }
  }
  return file.finish();
}

}  // namespace taproot::cli
