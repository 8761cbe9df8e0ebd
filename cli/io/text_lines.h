// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

namespace taproot::cli {

/// Reads the lines of a text, without a byte order mark and without their ends (LF or CR LF).
/// Throws InputError, naming the line, for text that is not UTF-8, because JSON could not hold it.
class TextLines {
 public:
  explicit TextLines(const std::string& path);

  bool next(std::string& line);
  /// As messages name it.
  const std::string& path() const { return path_; }
  /// The number of the line that was read last, from 1.
  std::size_t number() const { return number_; }
  /// The file and this line, as messages name them.
  std::string where() const { return path_ + ", line " + std::to_string(number_); }

 private:
  std::string path_;
  std::ifstream in_;
  std::size_t number_ = 0;
};

/// Cuts the next word off `line`, with the blanks before it. Empty if there is none.
std::string_view next_word(std::string_view& line);

}  // namespace taproot::cli
