// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace taproot::cli {

/// Bytes that are written once and then read from the start. They stay in memory while they are few
/// and go to a file without a name when they are many.
class Spill {
 public:
  /// The file is made beside `beside`, because that disk must hold the result anyway; if `beside`
  /// is empty, the file is made where temporary files go.
  explicit Spill(std::string beside) : beside_(std::move(beside)) {}

  void write(const void* bytes, std::size_t size);
  template <typename T>
  void put(const T& value) {
    write(&value, sizeof(value));
  }

  void rewind();
  /// Throws InputError if fewer bytes are left.
  void read(void* bytes, std::size_t size);

  std::size_t size() const { return size_; }
  /// How many bytes read() has not returned since rewind().
  std::size_t left() const { return left_; }

 private:
  void flush();
  void fill();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string beside_;
  std::vector<char> buffer_;  // While writing, what follows the file; while reading, a piece of it.
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::size_t left_ = 0;
  bool reading_ = false;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace taproot::cli
