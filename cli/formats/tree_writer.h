// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "formats/format.h"
#include "formats/tree_row.h"
#include "input/words.h"

namespace taproot::cli {

/// Writes trees in the order in which they are given. The file appears complete or not at all, in
/// finish(). An empty name means standard output, to which npz cannot be written (InputError).
class TreeWriter {
 public:
  virtual ~TreeWriter() = default;

  /// Must be called for every sentence of the input, before its rows, and may be called once more
  /// before further trees of the same sentence. `words` may be null, but not for conllu
  /// (InputError).
  virtual void sentence(std::size_t number, int n, const WordSentence* words) = 0;
  virtual void tree(const TreeRow& row) = 0;
  virtual void failed(const FailedRow& row) = 0;
  virtual void exhausted(const ExhaustedRow& row) = 0;
  virtual void finish() = 0;

  /// A writer in memory for some of the rows to come, so that several threads can make text at
  /// once; add() then writes what it holds, and empties it. The end of a sentence (failed,
  /// exhausted) belongs to the part with its last tree. Null for npz, which has no text to make.
  virtual std::unique_ptr<TreeWriter> part() const { return nullptr; }
  virtual void add(TreeWriter& /*part*/) {
    throw std::logic_error("[TreeWriter] a format without parts was given one");
  }

  /// Throws InputError for a format that does not hold trees.
  static std::unique_ptr<TreeWriter> open(Format format, const std::string& file, IndexKind kind);
};

}  // namespace taproot::cli
