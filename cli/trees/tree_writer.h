// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "input/words.h"
#include "trees/tree_row.h"

namespace taproot::cli {

enum class Format : std::uint8_t { kJsonl, kNpz, kConllu, kText };

/// "jsonl", "npz", "conllu", "text"; throws InputError for another name.
Format format_named(const std::string& name);

/// By the ending of a file; jsonl if it says nothing. ".txt" is text.
Format format_of(const std::string& file);

/// Writes trees in the order in which they are given. The file appears complete or not at all: it
/// is written beside its place under another name, and takes it in finish(). An empty name is
/// standard output (not for npz: InputError).
class TreeWriter {
 public:
  virtual ~TreeWriter() = default;

  /// Every sentence of the input, before its rows; `words` may be null (InputError for conllu).
  virtual void sentence(std::size_t number, int n, const WordSentence* words) = 0;
  virtual void tree(const TreeRow& row) = 0;
  virtual void failed(const FailedRow& row) = 0;
  virtual void exhausted(const ExhaustedRow& row) = 0;
  virtual void finish() = 0;

  static std::unique_ptr<TreeWriter> open(Format format, const std::string& file, IndexKind kind);
};

}  // namespace taproot::cli
