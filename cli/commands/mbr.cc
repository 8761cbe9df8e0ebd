// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/tree_results.h"

namespace taproot::cli {

int run_mbr(const Options& options) { return write_decoded(options, &DependencyTrees::mbr); }

}  // namespace taproot::cli
