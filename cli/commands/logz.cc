// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/number_file.h"

namespace taproot::cli {

int run_logz(const Options& options) {
  return write_scalars(options, "log_partition", &DependencyTrees::log_partition);
}

}  // namespace taproot::cli
