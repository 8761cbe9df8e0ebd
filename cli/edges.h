// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "taproot/types.h"

namespace taproot::cli {

struct EdgesOptions {
  std::string scores;
  std::string words;  ///< may be empty: then words are their numbers
  RootRule root = RootRule::kSingle;
  int top = 3;
  int threads = 0;
};

/// Prints, for each sentence, log-partition, entropy and the least certain words with their most
/// probable heads. Returns the exit code: 0, or 1 if some sentence has no answer.
int run_edges(const EdgesOptions& options);

}  // namespace taproot::cli
