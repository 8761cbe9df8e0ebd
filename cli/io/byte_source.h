// SPDX-License-Identifier: Apache-2.0
//
// A stream of bytes, from a file or from an entry of an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace taproot::cli {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Reads `size` bytes, or fewer at the end. Throws InputError if the source is damaged.
  virtual std::size_t read(void* out, std::size_t size) = 0;
  /// Skips `size` bytes, or fewer at the end, and returns how many. Throws as read() does.
  virtual std::uint64_t skip(std::uint64_t size) = 0;
  /// The number of bytes. For an archive's entry this is what the archive claims.
  virtual std::uint64_t size() const = 0;
  /// How many bytes the source holds per byte on the disk: 1 unless it is compressed.
  virtual double expansion() const { return 1; }
};

/// Opens a regular file. It is mapped one window at a time, because a mapping of the whole file
/// would count as memory of the process. Throws InputError if the file cannot be opened, is empty
/// or is not a regular file. "-" is standard input.
std::unique_ptr<ByteSource> open_file(const std::string& path);

/// `text` in quotes, shortened, with bytes that are not printable ASCII escaped.
std::string quoted(std::string_view text);

/// Says what a file is, judging by its first bytes: "an .npy array", "a zip archive", "text", ...
std::string describe_content(const std::string& path);

}  // namespace taproot::cli
