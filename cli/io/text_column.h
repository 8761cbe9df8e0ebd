// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "io/archive_writer.h"
#include "io/spill.h"

namespace taproot::cli {

/// A one-dimensional array of texts for an .npz archive, as NumPy keeps them: as wide as the
/// longest one.
class TextColumn {
 public:
  /// `beside` is where memory overflows to, as for a Spill.
  explicit TextColumn(std::string beside) : texts_(std::move(beside)) {}

  /// `text` is UTF-8 without zero bytes.
  void put(std::string_view text);
  /// The column must outlive the array.
  NpyArray array(std::string name);

  /// The number of characters of the longest text; at least 1.
  std::size_t width() const { return width_; }
  void rewind() { texts_.rewind(); }
  /// Writes the next text since rewind(): width() characters of four bytes, padded with zeros.
  void next(char* to);

 private:
  Spill texts_;  // The number of bytes of a text, then the text.
  std::size_t count_ = 0;
  std::size_t width_ = 1;
  std::string text_;
};

}  // namespace taproot::cli
