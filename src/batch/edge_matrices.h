// SPDX-License-Identifier: Apache-2.0
//
// The matrices that callers of a batch give and take, one per sentence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "taproot/types.h"

namespace taproot::detail {

inline std::size_t side(int n) { return static_cast<std::size_t>(n) + 1; }

inline void fill(const EdgeMatrix& to, std::size_t rows, std::size_t columns, double value) {
  for (std::size_t h = 0; h < rows; ++h) {
    std::fill_n(to.data + static_cast<std::ptrdiff_t>(h) * to.head_stride, columns, value);
  }
}

/// The matrix of a sentence of n words, copied into `memory` if its rows do not follow each other.
inline std::span<const double> contiguous(const ConstEdgeMatrix& from, int n,
                                          std::vector<double>& memory) {
  if (from.head_stride == n + 1) return {from.data, side(n) * side(n)};
  memory.resize(side(n) * side(n));
  for (int h = 0; h <= n; ++h) {
    std::copy_n(from.data + h * from.head_stride, side(n),
                memory.data() + static_cast<std::size_t>(h) * side(n));
  }
  return memory;
}

}  // namespace taproot::detail
