// SPDX-License-Identifier: Apache-2.0
//
// Scores from files.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "taproot/scores.h"

namespace taproot::cli {

/// The scores of a .npz archive: `scores`, all matrices one after the other, and `lengths`.
struct ScoreFile {
  std::variant<std::vector<float>, std::vector<double>> scores;
  std::vector<std::int32_t> lengths;

  /// A view of all sentences, valid as long as the file's contents are.
  Scores view(RootRule root) const;
};

/// Reads one: float32 or float64 scores, integer lengths, little-endian, stored or deflated.
/// Throws std::runtime_error, naming the file and what is wrong with it.
ScoreFile read_npz(const std::string& path);

/// The words of a text file, one sentence a line, separated by blanks.
std::vector<std::vector<std::string>> read_words(const std::string& path);

}  // namespace taproot::cli
