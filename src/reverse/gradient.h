// SPDX-License-Identifier: Apache-2.0
//
// The reverse pass computes G[h][m] = d log Z / d A[h][m] for the scaled weights A, by position,
// row = modifier. It brings the words back in the opposite order of elimination, k = 2..n.
//
// When k comes back, G over ROOT and the words 1..k-1 stays the same, and only the edges into and
// out of k are new:
//   gu[h]    = sum over m < k of G[h][m] A[k][m]          E = sum over h < k of share_k[h] gu[h]
//   G[h][k]  = ((1 - E) + gu[h]) / pivot_k                (single-root, h = ROOT: gu[0] / pivot_k)
//   G[k][m]  = sum over h < k of share_k[h] G[h][m]
// where share_k[h] = A[h][k] / pivot_k. docs/math.md derives this.
#pragma once

#include "core/buffer.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Fills gradient, [n+1][ld]. Row 0, the diagonal and the columns beyond n are 0. The factors must
/// be tame, because G may be large at edges of weight 0, where no marginal bounds it.
void gradient(const Factors<double>& f, double* gradient, Scratch& scratch);

/// gradient() by its definition, over any scalar. The library uses it over Wide for factors that
/// are not tame, and the tests compare gradient() with it. `share` and `gu` are scratch memory for
/// n+1 scalars each.
template <typename T>
void gradient_simply(const Factors<T>& f, T* gradient, T* share, T* gu) {
  const auto g = [&](int h, int m) -> T& { return MatrixView(gradient, f.ld)(m, h); };
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

/// The gradient's ROOT row alone, for single-root factors that are tame or over Wide: g[k] =
/// G[0][k] = sum over m < k of G[0][m] A[k][m] / pivot_k for k = 1..n, in O(n^2) and without
/// subtraction. Once G[0][m] is known, it is added to the sums of all words k > m, so that memory
/// is read by rows.
template <typename T>
void root_gradient(const Factors<T>& f, T* g) {
  for (int k = 1; k <= f.n; ++k) g[k] = T(k == 1 ? 1 : 0);
  for (int m = 1; m <= f.n; ++m) {
    g[m] = g[m] / f.pivot(m);
    const T* out_of = f.into(m);
    for (int k = m + 1; k <= f.n; ++k) g[k] += g[m] * out_of[k];
  }
}

/// The factors of `data` over Wide: its own or, if it has them in double, converted ones in
/// ReverseScratch.
Factors<Wide> wide_factors_of(const FactorData& data, Scratch& scratch);

/// Fills ReverseScratch::gradient if the data is tame, and ReverseScratch::wide_gradient if not.
void gradient_of(const FactorData& data, Scratch& scratch);

}  // namespace taproot::detail
