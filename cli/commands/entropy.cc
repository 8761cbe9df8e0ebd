// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/number_file.h"
#include "engine.h"
#include "taproot/taproot.h"

namespace taproot::cli {

int run_entropy(const Options& options) {
  Engine engine(options);
  return write_scalars(
      options, "entropy",
      [&](const Scores& scores, std::span<Outcome> outcomes, std::span<double> out) {
        entropy(engine.pool(), scores, outcomes, out);
      });
}

}  // namespace taproot::cli
