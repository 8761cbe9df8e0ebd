// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "formats/tree_row.h"
#include "input/words.h"

namespace taproot::cli {

enum class Format : std::uint8_t { kJsonl, kNpz, kConllu, kText };

/// The format of this name: "jsonl", "npz", "conllu" or "text". Throws InputError for another name.
Format format_named(const std::string& name);

/// The name of a format.
std::string_view to_string(Format format);

/// The format that the ending of a file says; jsonl if it says nothing. ".txt" is text.
Format format_of(const std::string& file);

/// The format of this name, or, if the name is empty, the one that the ending of the file says.
Format chosen_format(const std::string& name, const std::string& file);

/// Writes trees in the order in which they are given. The file appears complete or not at all, in
/// finish(). An empty name means standard output, to which npz cannot be written (InputError).
class TreeWriter {
 public:
  virtual ~TreeWriter() = default;

  /// Must be called for every sentence of the input, before its rows. `words` may be null, except
  /// for conllu (InputError).
  virtual void sentence(std::size_t number, int n, const WordSentence* words) = 0;
  virtual void tree(const TreeRow& row) = 0;
  virtual void failed(const FailedRow& row) = 0;
  virtual void exhausted(const ExhaustedRow& row) = 0;
  virtual void finish() = 0;

  static std::unique_ptr<TreeWriter> open(Format format, const std::string& file, IndexKind kind);
};

}  // namespace taproot::cli
