// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/archive.h"
#include "io/npy_reader.h"

namespace taproot::cli {

/// A longer sentence is taken for an error: its matrix would have more than 4 billion cells.
inline constexpr std::int64_t kMostWords = 65535;

/// What many users get wrong, for messages about lengths that are too large.
inline constexpr const char* kLengthsCountWords = "lengths count words, not ROOT";

inline std::uint64_t cells(std::int64_t n) {
  return static_cast<std::uint64_t>(n + 1) * static_cast<std::uint64_t>(n + 1);
}

/// Reads a one-dimensional array of integers, each from 0 to kMostWords.
std::vector<std::int32_t> read_lengths(NpyReader& in);

/// Reads the same from a file: an .npy array, or numbers in text.
std::vector<std::int32_t> read_lengths(const std::string& path);

/// An archive's `lengths`, and beside them an array with (n+1)(n+1) x `depth` elements per
/// sentence: either one sentence after the other, or padded, (B, N+1, N+1) or (B, N+1, N+1, depth)
/// in C order, where cells beyond the length of a sentence are passed over.
class RaggedArray {
 public:
  /// Throws InputError unless the two agree.
  RaggedArray(const Archive& archive, const std::string& array, std::uint64_t depth);

  const std::vector<std::int32_t>& lengths() const { return lengths_; }
  /// The sentence that comes next.
  std::size_t at() const { return at_; }
  void skip(std::size_t sentences);
  /// Reads all elements of the next sentence and replaces the content of `out` by them.
  template <typename T>
  void read(std::vector<T>& out);
  const NpyReader& values() const { return values_; }

 private:
  void check() const;
  void check_padded() const;
  std::uint64_t size(std::size_t sentence) const { return cells(lengths_[sentence]) * depth_; }

  NpyReader values_;
  std::uint64_t depth_;
  std::uint64_t side_ = 0;  // N+1 if the sentences are padded, otherwise 0.
  std::vector<std::int32_t> lengths_;
  std::size_t at_ = 0;
};

}  // namespace taproot::cli
