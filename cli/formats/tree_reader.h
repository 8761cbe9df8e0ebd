// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "formats/tree_row.h"
#include "formats/tree_writer.h"
#include "input/words.h"

namespace taproot::cli {

using AnyRow = std::variant<TreeRow, FailedRow, ExhaustedRow>;

/// Reads what a TreeWriter wrote. The ending of the file says whether it is jsonl, npz or conllu,
/// and the first byte where the file is standard input ("-");
/// text cannot be read, because it does not keep everything. Throws InputError, naming the line or
/// row, if the file does not have that form or a head is not a number within its sentence.
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
