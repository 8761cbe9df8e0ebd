// SPDX-License-Identifier: Apache-2.0
//
// The reverse pass: G[h][m] = d log Z / d A[h][m] of the scaled weights, by position, row =
// modifier.
//
// G over the words 1..k-1 does not change when k comes back, so only k's row and column are new:
//   gu[h]    = sum over m < k of G[h][m] A[k][m]          E = sum over h < k of share_k[h] gu[h]
//   G[h][k]  = ((1 - E) + gu[h]) / pivot_k                (single-root, h = ROOT: gu[0] / pivot_k)
//   G[k][m]  = sum over h < k of share_k[h] G[h][m]
// with share_k[h] = A[h][k] / pivot_k.
#pragma once

#include "core/buffer.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Fills gradient, [n+1][ld]; row 0, the diagonal and columns beyond n are 0. Only for factors that
/// are tame: G is also wanted for edges of weight 0, where it is bounded by nothing else.
void gradient(const Factors<double>& f, double* gradient, Scratch& scratch);

/// The same by the definition over any scalar: the reference of the tests, and on Wide the way for
/// what is not tame. `share` and `gu` are scratch for n+1 scalars each.
template <typename T>
void gradient_simply(const Factors<T>& f, T* gradient, T* share, T* gu) {
  const auto g = [&](int h, int m) -> T& {
    return gradient[static_cast<std::size_t>(m) * f.ld + static_cast<std::size_t>(h)];
  };
  for (int m = 0; m <= f.n; ++m) {
    for (int h = 0; h <= f.n; ++h) g(h, m) = T(0);
  }
  g(0, 1) = T(1) / f.pivot(1);
  for (int k = 2; k <= f.n; ++k) {
    for (int h = 0; h < k; ++h) gu[h] = T(0);
    for (int m = 1; m < k; ++m) {
      for (int h = 0; h < k; ++h) gu[h] += g(h, m) * f.out_of(k, m);
    }
    T e = T(0);
    for (int h = 0; h < k; ++h) {
      share[h] = f.into(k)[h] / f.pivot(k);
      e += share[h] * gu[h];
    }
    const T rest = T(1) - e;
    for (int h = 0; h < k; ++h) {
      const bool lone_root = h == 0 && f.root == RootRule::kSingle;
      g(h, k) = (lone_root ? gu[h] : rest + gu[h]) / f.pivot(k);
    }
    for (int m = 1; m < k; ++m) {
      for (int h = 0; h < k; ++h) g(k, m) += share[h] * g(h, m);
    }
  }
}

/// The gradient's ROOT row alone, single-root, into g[1..n]: G[0][k] = sum over m < k of
/// G[0][m] A[k][m] / pivot_k, in O(n^2) and free of subtraction. In double for data that is tame.
/// Each G[0][m], once known, is pushed on to the sums of the words k > m: that runs along rows.
template <typename T>
void root_gradient(const Factors<T>& f, T* g) {
  for (int k = 1; k <= f.n; ++k) g[k] = T(k == 1 ? 1 : 0);
  for (int m = 1; m <= f.n; ++m) {
    g[m] = g[m] / f.pivot(m);
    const T* out_of = f.into(m);
    for (int k = m + 1; k <= f.n; ++k) g[k] += g[m] * out_of[k];
  }
}

/// The factors over Wide, in scratch if the data has them in double.
Factors<Wide> wide_factors_of(const FactorData& data, Scratch& scratch);

/// Fills scratch.square with the gradient if the data is tame, scratch.wide_square if not.
void gradient_of(const FactorData& data, Scratch& scratch);

}  // namespace taproot::detail
