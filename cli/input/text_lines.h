// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace taproot::cli {

/// The lines of a text, without their ends, LF or CR LF, and without a byte order mark. Throws
/// InputError, naming the line, for what is no UTF-8: it could not be written back as JSON.
class TextLines {
 public:
  explicit TextLines(const std::string& path);

  bool next(std::string& line);
  const std::string& path() const { return path_; }
  /// Of the line read last, from 1.
  std::size_t number() const { return number_; }

 private:
  std::string path_;
  std::ifstream in_;
  std::size_t number_ = 0;
};

}  // namespace taproot::cli
