// SPDX-License-Identifier: Apache-2.0
//
// Reads arrays as NumPy writes them, from the front to the back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/archive.h"
#include "io/byte_source.h"
#include "io/npy_header.h"

namespace taproot::cli {

/// The value of a float16, exactly.
float from_half(std::uint16_t bits);

class NpyReader {
 public:
  /// Reads the header and compares it with the size of the source. Throws InputError, with messages
  /// that begin with `name`.
  NpyReader(std::unique_ptr<ByteSource> source, std::string name);

  const NpyHeader& header() const { return header_; }
  const std::string& name() const { return name_; }

  /// Each throws InputError unless the elements are of this type.
  void require_floats() const;
  void require_integers() const;
  void require_bools() const;
  void require_texts() const;
  /// Throws InputError unless the array has this shape.
  void require_shape(const std::vector<std::uint64_t>& shape) const;
  bool is_double() const { return header_.width == 8; }

  /// Reads the next `count` elements into out[at], out[at + 1], ...; `out` grows as they arrive,
  /// because a header may promise more than there is. float takes float16 and float32, double all
  /// floats, std::int64_t all integers and bools (those beyond its range become the largest), and
  /// std::uint64_t all integers (negative ones modulo 2^64). Throws InputError if they end early.
  template <typename T>
  void read(std::vector<T>& out, std::size_t at, std::size_t count);
  /// Reads a padded matrix [padded_side][padded_side][depth], but keeps only [side][side][depth].
  template <typename T>
  void read_corner(std::vector<T>& out, std::size_t side, std::uint64_t padded_side,
                   std::uint64_t depth);
  /// Reads the next `count` texts, as UTF-8.
  void read_texts(std::vector<std::string>& out, std::size_t count);
  void skip(std::uint64_t count);
  /// Throws InputError if bytes follow the last element, or if their checksum is wrong.
  void finish();

  /// Throws InputError if so many bytes look like an attack: a large buffer that comes from very
  /// few bytes on the disk.
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

/// Opens an array of an archive. Throws InputError, naming the arrays that there are, if it is
/// missing.
NpyReader open_array(const Archive& archive, const std::string& array);

}  // namespace taproot::cli
