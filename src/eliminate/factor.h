// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/buffer.h"
#include "taproot/types.h"

namespace taproot::detail {

/// The number of rows that factor() keeps in `shares`.
inline constexpr std::size_t kMostShares = 64;

/// Eliminates words n, n-1, ..., 2 of `matrix` ([n+1][ld] by position, row = modifier, row 0
/// unused) in place, which leaves Factors<double>. The pivots go to pivot[1..n]. Nothing is checked
/// here, because numbers outside double's range show in the pivots. `shares` is scratch memory.
void factor(double* matrix, std::size_t ld, int n, RootRule root, double* pivot,
            Buffer<double>& shares);

/// Whether every positive entry of the factors lies within [low, high].
bool factors_within(const double* matrix, std::size_t ld, int n, double low, double high);

/// factor() by its definition, one word at a time and over any scalar. The library uses it for
/// Wide, and the tests compare factor() with it. `share` is scratch memory for n+1 scalars.
template <typename T>
void factor_simply(T* matrix, std::size_t ld, int n, RootRule root, T* pivot, T* share) {
  const auto row = [=](int m) { return MatrixView(matrix, ld).row(m); };
  for (int k = n; k >= 2; --k) {
    T sum = T(0);
    for (int h = root == RootRule::kSingle ? 1 : 0; h < k; ++h) sum += row(k)[h];
    for (int h = 0; h < k; ++h) share[h] = row(k)[h] / sum;
    for (int m = 1; m < k; ++m) {
      for (int h = 0; h < k; ++h) {
        if (h != m) row(m)[h] += row(m)[k] * share[h];
      }
    }
    pivot[k] = sum;
  }
  pivot[1] = row(1)[0];
}

}  // namespace taproot::detail
