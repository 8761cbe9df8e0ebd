// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/buffer.h"
#include "core/random.h"

namespace taproot::detail {

/// A matrix by position ([n+1][ld], row = modifier) of weights spread over e^-3 .. e^3; what no
/// kernel may use, the diagonal and the columns beyond n, is zero.
inline void fill_positive(int n, std::size_t ld, Buffer<double>& matrix) {
  matrix.resize((static_cast<std::size_t>(n) + 1) * ld);
  Stream stream(stream_key(7, static_cast<std::uint32_t>(n)), 0, Purpose::kTree);
  for (int m = 0; m <= n; ++m) {
    for (std::size_t h = 0; h < ld; ++h) {
      const bool used =
          m > 0 && h <= static_cast<std::size_t>(n) && h != static_cast<std::size_t>(m);
      matrix[static_cast<std::size_t>(m) * ld + h] =
          used ? std::exp(6 * stream.uniform() - 3) : 0.0;
    }
  }
}

}  // namespace taproot::detail
