// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/number_file.h"
#include "engine.h"
#include "taproot/taproot.h"

namespace taproot::cli {

int run_logz(const Options& options) {
  Engine engine(options);
  return write_scalars(
      options, "log_partition",
      [&](const Scores& scores, std::span<Outcome> outcomes, std::span<double> out) {
        engine.on_device([&](auto& where) { log_partition(where, scores, outcomes, out); });
      });
}

}  // namespace taproot::cli
