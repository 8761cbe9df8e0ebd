// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "formats/tree_row.h"
#include "input/words.h"

namespace taproot::cli {

/// Throws InputError unless there are `n` words.
void check_words(std::size_t sentence, int n, const WordSentence& words);

/// Checks what all readers ask of trees, whatever the format. Messages begin with `where`.
class RowCheck {
 public:
  /// Throws InputError unless heads are from 0 to n, no word is its own head, there are as many
  /// labels as heads (or none), and the tree before it of the same sentence has as many words.
  void operator()(const TreeRow& row, const std::string& where);

 private:
  std::optional<std::size_t> sentence_;
  std::size_t n_ = 0;
};

}  // namespace taproot::cli
