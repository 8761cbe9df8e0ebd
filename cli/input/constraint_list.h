// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "taproot/constraints.h"

namespace taproot::cli {

enum class ConstraintKind : std::uint8_t { kForce, kForbid, kRoots };

/// The constraints of the command line, as they were written, so that a message can name the one
/// that a sentence is too short for.
class ConstraintList {
 public:
  /// Adds a constraint for every sentence. `option` is where `value`, an edge or a list of words,
  /// was written. Throws InputError if it is neither.
  void add(ConstraintKind kind, const std::string& option, const std::string& value);

  /// Adds the constraints of a file, each for one sentence: lines "SENTENCE force
  /// HEAD:MODIFIER...", "SENTENCE forbid HEAD:MODIFIER..." and "SENTENCE roots WORD,...". Empty
  /// lines and lines that begin with # are passed over. Throws InputError, naming the line, for
  /// anything else.
  void read(const std::string& file);

  bool empty() const { return everywhere_.empty() && of_sentence_.empty(); }

  /// Throws InputError if a file has a constraint for a sentence outside first..first + count - 1.
  void check_sentences(std::size_t first, std::size_t count) const;

  /// The constraints of a sentence of n words. If one of them names a word beyond n, `problem` says
  /// which, and the result is empty; otherwise `problem` is empty.
  Constraints of(std::size_t sentence, int n, std::string& problem) const;

 private:
  struct Item {
    ConstraintKind kind;
    std::string where;  // "--force 2:1", or the file and the line.
    int head = 0;
    int modifier = 0;
    std::vector<std::int32_t> words;  // Of kRoots.

    int largest() const;
    void apply(Constraints& constraints) const;
  };

  static Item parsed(ConstraintKind kind, const std::string& option, const std::string& value);

  std::vector<Item> everywhere_;
  std::map<std::size_t, std::vector<Item>> of_sentence_;
};

}  // namespace taproot::cli
