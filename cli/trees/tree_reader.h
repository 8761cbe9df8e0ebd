// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "input/words.h"
#include "trees/tree_row.h"
#include "trees/tree_writer.h"

namespace taproot::cli {

using AnyRow = std::variant<TreeRow, FailedRow, ExhaustedRow>;

/// Reads back what a TreeWriter wrote: jsonl, npz or conllu, by the file's ending. (Text does not
/// keep everything: InputError.) Throws InputError, naming the line or row, for what is not of that
/// form, for heads that are no numbers within the sentence.
class TreeReader {
 public:
  virtual ~TreeReader() = default;

  virtual bool next(AnyRow& row) = 0;
  virtual IndexKind kind() const = 0;

  /// The words of the sentence of the row just read, if the file has any (conllu).
  virtual const WordSentence* words() const = 0;

  static std::unique_ptr<TreeReader> open(const std::string& file);
};

}  // namespace taproot::cli
