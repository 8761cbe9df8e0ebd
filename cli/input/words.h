// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace taproot::cli {

/// The words of one sentence. From CoNLL-U also everything else that its lines hold, so that a tree
/// can be written back into them.
struct WordSentence {
  std::vector<std::string> words;
  /// CoNLL-U only: all lines as they are, comments, multi-word tokens and empty nodes included.
  std::vector<std::string> lines;
  /// CoNLL-U only: for each word its line in `lines`, its head (-1 where it has none: "_") and its
  /// relation.
  std::vector<std::size_t> line_of_word;
  std::vector<std::int32_t> heads;
  std::vector<std::string> relations;
};

/// A .conllu file (by its ending), or plain text: one sentence a line, words separated by blanks.
/// Throws InputError, naming the line, for what is neither.
class WordReader {
 public:
  explicit WordReader(const std::string& file);
  ~WordReader();

  bool next(WordSentence& sentence);

  /// Skips to sentence `number` (which must grow from call to call) and reads it. Throws InputError
  /// if there is none.
  void read(std::size_t number, WordSentence& sentence);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taproot::cli
