// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include "output_file.h"
#include "trees/tree_row.h"

namespace taproot::cli {

/// Text on its way to a file: appended to memory that is kept, and written in large pieces.
class LineBuffer {
 public:
  void text(std::string_view piece) { buffer_.append(piece.data(), piece.data() + piece.size()); }
  void byte(char c) { buffer_.push_back(c); }

  template <std::integral T>
  void number(T value) {
    const fmt::format_int digits(value);
    buffer_.append(digits.data(), digits.data() + digits.size());
  }

  /// The shortest digits that read back to the same double. With its fraction, -0.0 stays what it
  /// is for readers that take "-0" for an integer.
  void number(double value) {
    if (value == 0.0 && std::signbit(value)) return text("-0.0");
    fmt::format_to(fmt::appender(buffer_), "{}", value);
  }

  /// `piece` in one line: what would end it becomes a blank.
  void one_line(std::string_view piece) {
    for (const char c : piece) byte(c == '\n' || c == '\r' ? ' ' : c);
  }

  void flush_if_full(OutputFile& file) {
    if (buffer_.size() >= kFull) flush(file);
  }
  void flush(OutputFile& file) {
    file.write({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kFull = std::size_t{1} << 16;
  fmt::memory_buffer buffer_;
};

/// How the formats name what a row's index counts; empty for nothing.
inline std::string_view index_name(IndexKind kind) {
  return kind == IndexKind::kSample ? "sample" : kind == IndexKind::kRank ? "rank" : "";
}

}  // namespace taproot::cli
