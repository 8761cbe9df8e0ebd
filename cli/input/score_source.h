// SPDX-License-Identifier: Apache-2.0
//
// The sentences of one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "input/score_reader.h"

namespace taproot::cli {

class ScoreSource {
 public:
  virtual ~ScoreSource() = default;

  /// How many sentences there are.
  virtual std::size_t count() const = 0;
  /// How many entries of the file of lengths belong to them: 0 unless they are padded.
  virtual std::size_t lengths_used() const { return 0; }
  virtual void skip(std::size_t sentences) = 0;
  /// Reads the next sentence. Its number is set already, for messages.
  virtual void read(Sentence& sentence) = 0;
};

/// Opens a file by its ending, or standard input by its content. `first_length` is where its
/// lengths begin.
std::unique_ptr<ScoreSource> open_scores(const std::string& path, const PaddedLengths& lengths,
                                         std::size_t first_length);

}  // namespace taproot::cli
