// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace taproot::cli {

/// The words of one sentence. For CoNLL-U this includes everything else in its lines, so that a
/// tree can be written back into them.
struct WordSentence {
  std::vector<std::string> words;
  /// CoNLL-U only: all lines, including comments, multi-word tokens and empty nodes.
  std::vector<std::string> lines;
  // CoNLL-U only, one entry per word:
  std::vector<std::size_t> line_of_word;  ///< Its index in `lines`.
  std::vector<std::int32_t> heads;        ///< -1 where the file has "_".
  std::vector<std::string> relations;
};

/// Reads words from a .conllu file (by its ending), or from text with one sentence per line and
/// words separated by blanks. Throws InputError, naming the line, for anything else.
class WordReader {
 public:
  explicit WordReader(const std::string& file);
  /// The same, whatever the ending of the file says.
  WordReader(const std::string& file, bool conllu);
  ~WordReader();

  bool next(WordSentence& sentence);

  /// Skips to sentence `number` and reads it. Numbers must grow from call to call. Throws
  /// InputError if there is no such sentence.
  void read(std::size_t number, WordSentence& sentence);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taproot::cli
