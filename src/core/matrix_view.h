// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

namespace taproot::detail {

/// ROOT and n words: the number of nodes of a sentence, and of rows in a matrix over them.
inline std::size_t node_count(int n) { return static_cast<std::size_t>(n) + 1; }

/// The library's matrices have rows of this many doubles: whole cache lines, and never a multiple
/// of 512 bytes, because a loop down a column would then keep hitting few cache sets.
inline std::size_t leading_dimension(int n) {
  const std::size_t ld = (node_count(n) + 7) / 8 * 8;
  return ld % 64 == 0 ? ld + 8 : ld;
}

/// A row-major matrix whose memory belongs to someone else: row r begins at data + r * ld. Indices
/// may be of any integral type, so that words, which are ints, need no casts.
template <typename T>
class MatrixView {
 public:
  MatrixView(T* data, std::size_t ld) : data_(data), ld_(ld) {}

  T* row(std::integral auto r) const { return data_ + static_cast<std::size_t>(r) * ld_; }
  T& operator()(std::integral auto r, std::integral auto column) const { return row(r)[column]; }

 private:
  T* data_;
  std::size_t ld_;
};

/// A std::vector that takes any integral index, for the same reason.
template <typename T>
class IndexedVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  T& operator[](std::integral auto i) { return this->data()[i]; }
  const T& operator[](std::integral auto i) const { return this->data()[i]; }
};

}  // namespace taproot::detail
