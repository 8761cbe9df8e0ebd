// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace taproot::cli {

/// What `index` counts: nothing (argmax, mbr), samples, or ranks.
enum class IndexKind : std::uint8_t { kNone, kSample, kRank };

/// One tree of output. Keys that are not there are not written.
struct TreeRow {
  std::size_t sentence = 0;
  std::size_t index = 0;
  std::vector<std::int32_t> heads;
  std::vector<std::string> labels;  ///< Empty, or one a word.
  std::optional<double> score;
  std::optional<double> log_prob;
  std::optional<double> gumbel;
  std::optional<double> weight;
};

/// A sentence that has no trees.
struct FailedRow {
  std::size_t sentence = 0;
  std::string status;
  std::string message;
};

/// Behind the trees of a sentence whose support ran out.
struct ExhaustedRow {
  std::size_t sentence = 0;
  std::size_t trees = 0;
};

}  // namespace taproot::cli
