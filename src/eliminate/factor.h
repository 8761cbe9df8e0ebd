// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/buffer.h"
#include "taproot/types.h"

namespace taproot::detail {

/// Rows of ld that factor() keeps in its panel.
inline constexpr std::size_t kMostShares = 64;

/// Eliminates words n, n-1, ..., 2 of `matrix` ([n+1][ld] by position, row = modifier, row 0
/// unused) in place, leaving Factors<double>; pivot[1..n] takes the pivots. Nothing is checked
/// here: a weight out of double's range shows in the pivots.
void factor(double* matrix, std::size_t ld, int n, RootRule root, double* pivot,
            Buffer<double>& panel);

/// Whether every positive number among the factors lies within [low, high].
bool factors_within(const double* matrix, std::size_t ld, int n, double low, double high);

/// The same by the definition, one word at a time, over any scalar: the reference of the tests and
/// the way for scalars that are not double. `share` is scratch for n+1 scalars.
template <typename T>
void factor_simply(T* matrix, std::size_t ld, int n, RootRule root, T* pivot, T* share) {
  const auto row = [=](int m) { return matrix + static_cast<std::size_t>(m) * ld; };
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
