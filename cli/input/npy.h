// SPDX-License-Identifier: Apache-2.0
//
// Arrays as NumPy writes them, read from the front to the back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "input/byte_source.h"

namespace taproot::cli {

struct NpyHeader {
  std::string type;  ///< As the header has it: "<f4".
  char kind = 0;     ///< 'f' float, 'i' and 'u' integer; 0 for all that is not read here.
  std::size_t width = 0;
  bool swapped = false;
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t count = 0;  ///< Elements in all.

  /// "(3, 4)", as Python would print it.
  std::string shape_text() const;
};

/// Parses the dictionary of a header. Throws InputError that begins with `name`.
NpyHeader parse_npy_header(const std::string& name, std::string_view dictionary);

/// The value of a float16, exactly.
float from_half(std::uint16_t bits);

class NpyReader {
 public:
  /// Reads the header and compares it with the size of the source. `name` is what messages begin
  /// with.
  NpyReader(std::unique_ptr<ByteSource> source, std::string name);

  const NpyHeader& header() const { return header_; }
  const std::string& name() const { return name_; }

  /// Throws InputError unless the elements are float16, float32 or float64 / integers.
  void require_floats() const;
  void require_integers() const;
  bool is_double() const { return header_.width == 8; }

  /// The next `count` elements into out[at], out[at + 1], ...: `out` grows as they arrive, because
  /// what a header promises may be a lie. float takes float16 and float32, double float64, and
  /// int64 all integers (those too large become the largest). Throws InputError where they end
  /// early.
  template <typename T>
  void read(std::vector<T>& out, std::size_t at, std::size_t count);
  void skip(std::uint64_t count);
  /// Throws InputError if bytes follow the last element, or their check sum is wrong.
  void finish();

  /// Throws InputError if a buffer of so many bytes looks like an attack: a large one that hardly
  /// anything on the disk stands for.
  void require_plausible(std::uint64_t bytes) const;

 private:
  void take(void* out, std::size_t bytes);
  [[noreturn]] void fail_early() const;

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  NpyHeader header_;
  std::uint64_t read_ = 0;
  std::vector<unsigned char> raw_;
};

}  // namespace taproot::cli
