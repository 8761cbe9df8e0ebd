// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/number_file.h"

namespace taproot::cli {

int run_entropy(const Options& options) {
  return write_scalars(options, "entropy", &DependencyTrees::entropy);
}

}  // namespace taproot::cli
