// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/compile.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "io/digits.h"
#include "io/output_file.h"

namespace taproot::cli {

/// Text on its way to a file: it is collected in memory and written in large pieces.
class LineBuffer {
 public:
  void text(std::string_view piece) {
    std::memcpy(room(piece.size()), piece.data(), piece.size());
    size_ += piece.size();
  }
  void byte(char c) {
    *room(1) = c;
    ++size_;
  }

  /// Writes up to `most` bytes: fill(at) puts them at `at` and returns where they end.
  template <typename Fill>
  void append(std::size_t most, const Fill& fill) {
    char* const begin = room(most);
    size_ += static_cast<std::size_t>(fill(begin) - begin);
  }

  template <std::integral T>
  void number(T value) {
    append(kLongestNumber, [&](char* at) { return put_number(at, value); });
  }

  /// Writes the shortest digits that read back to the same double. -0.0 keeps its fraction, because
  /// some readers take "-0" for an integer.
  void number(double value) {
    if (value == 0.0 && std::signbit(value)) return text("-0.0");
    constexpr std::size_t kLongest = 32;
    append(kLongest, [&](char* at) { return fmt::format_to(at, FMT_COMPILE("{}"), value); });
  }

  /// Writes `piece` as a string of JSON. A byte that is not UTF-8 becomes U+FFFD.
  void json(std::string_view piece);

  /// Writes `piece` in one line: line ends become blanks.
  void one_line(std::string_view piece) {
    for (const char c : piece) byte(c == '\n' || c == '\r' ? ' ' : c);
  }

  /// The number of bytes that are not written yet.
  std::size_t size() const { return size_; }

  /// Moves what follows position `at` behind `piece`.
  void insert(std::size_t at, std::string_view piece) {
    room(piece.size());
    std::memmove(&bytes_[at + piece.size()], &bytes_[at], size_ - at);
    std::memcpy(&bytes_[at], piece.data(), piece.size());
    size_ += piece.size();
  }

  void flush_if_full(OutputFile& file) {
    if (size_ >= kFull) flush(file);
  }
  void flush(OutputFile& file) {
    file.write({bytes_.get(), size_});
    size_ = 0;
  }

 private:
  static constexpr std::size_t kFull = std::size_t{1} << 18;

  // Where the next `size` bytes go.
  char* room(std::size_t size) {
    if (capacity_ - size_ < size) grow(size);
    return bytes_.get() + size_;
  }
  void grow(std::size_t size) {
    const std::size_t capacity = std::max(2 * capacity_, size_ + size + kFull + kFull / 4);
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace taproot::cli
