// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "commands/tree_results.h"

namespace taproot::cli {

/// What a report holds of one sentence: a block of JSON for the list (number, words, entropy), and
/// a packed one for when it is shown (entropy of each word, sampled trees by frequency, what lies
/// below the floor, the SVG of its marginals). Both are inert: the browser runs nothing of them.
std::string sentence_html(const Context& context, std::size_t i, const Factorization& f,
                          Workspace& workspace);

/// The same for a sentence that failed: its words, and why.
std::string failure_html(const Context& context, std::size_t i, const FailedRow& row);

}  // namespace taproot::cli
