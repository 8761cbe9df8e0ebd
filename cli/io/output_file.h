// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace taproot::cli {

/// Removes files that are not committed when SIGINT, SIGTERM or SIGHUP ends the program, which has
/// to call this once. Signals that are handled or ignored stay so.
void remove_unfinished_on_signals();

/// A file that appears complete or not at all: it is written beside its place under another name,
/// and commit() renames it. A file that is not committed is removed. An empty name means standard
/// output. Throws InputError if something cannot be written.
class OutputFile {
 public:
  explicit OutputFile(const std::string& name);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  std::FILE* stream() { return stream_; }
  const std::string& temporary() const { return temporary_; }
  void commit();

 private:
  std::string name_;
  std::string temporary_;
  std::FILE* stream_ = nullptr;
  std::vector<char> buffer_;  ///< The buffer of stream_; setvbuf() ignores a size without one.
};

}  // namespace taproot::cli
