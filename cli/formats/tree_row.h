// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taproot::cli {

/// What the index of a tree counts: nothing (argmax, mbr), samples, or ranks.
enum class IndexKind : std::uint8_t { kNone, kSample, kRank };

/// The name of the index in files; empty for kNone.
inline std::string_view index_name(IndexKind kind) {
  return kind == IndexKind::kSample ? "sample" : kind == IndexKind::kRank ? "rank" : "";
}

/// One tree of the output. Values that are not set are not written.
struct TreeRow {
  std::size_t sentence = 0;
  std::size_t index = 0;
  std::vector<std::int32_t> heads;
  std::vector<std::string> labels;  ///< Empty, or one per word.
  std::optional<double> score;
  std::optional<double> log_prob;
  std::optional<double> gumbel;
  std::optional<double> weight;
};

/// The values of a tree, and their names in files.
inline constexpr std::array<std::pair<const char*, std::optional<double> TreeRow::*>, 4>
    kTreeValues = {{{"score", &TreeRow::score},
                    {"log_prob", &TreeRow::log_prob},
                    {"gumbel", &TreeRow::gumbel},
                    {"weight", &TreeRow::weight}}};

/// A sentence that failed, and therefore has no trees.
struct FailedRow {
  std::size_t sentence = 0;
  std::string status;
  std::string message;
};

/// Follows the trees of a sentence that has no further tree of positive probability.
struct ExhaustedRow {
  std::size_t sentence = 0;
  std::size_t trees = 0;
};

}  // namespace taproot::cli
