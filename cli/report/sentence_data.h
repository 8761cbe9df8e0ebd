// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "commands/tree_results.h"

namespace taproot::cli {

/// What the library says about one sentence.
struct SentenceAnswers {
  double log_partition;
  double entropy;
  const std::vector<double>& marginals;  ///< [n+1][n+1]
  const SentenceTrees& samples;
};

/// What a report holds about one sentence: a block of JSON for the list (number, sent_id, words,
/// entropy) and a packed one that is read when the sentence is shown (entropy of each word, sampled
/// trees by frequency, the number of edges below the floor, the SVG of the marginals). A browser
/// runs neither.
std::string sentence_html(const Context& context, std::size_t i, const SentenceAnswers& answers);

/// The same for a sentence that failed: its words and the reason.
std::string failure_html(const Context& context, std::size_t i, const FailedRow& row);

}  // namespace taproot::cli
