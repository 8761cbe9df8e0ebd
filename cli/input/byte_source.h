// SPDX-License-Identifier: Apache-2.0
//
// Bytes in order, from a file or from an entry of an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace taproot::cli {

class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `size` bytes; fewer only at the end. Throws InputError for damage.
  virtual std::size_t read(void* out, std::size_t size) = 0;
  /// Passes over up to `size` bytes; fewer only at the end.
  virtual std::uint64_t skip(std::uint64_t size) = 0;
  /// How many bytes there are in all: of a file the truth, of an archive's entry what it claims.
  virtual std::uint64_t size() const = 0;
  /// Bytes that the source holds for each byte that lies on the disk: 1 unless compressed.
  virtual double expansion() const { return 1; }
};

/// A regular file, mapped a window at a time: a mapping of the whole would count as memory of ours.
/// Throws InputError for one that cannot be opened, is empty, or is no regular file.
std::unique_ptr<ByteSource> open_file(const std::string& path);

/// `text` in quotes, short, and without anything that a terminal would act upon.
std::string quoted(std::string_view text);

/// What a file seems to be, by its first bytes: "an .npy array", "a zip archive", "text", ...
std::string describe_content(const std::string& path);

}  // namespace taproot::cli
