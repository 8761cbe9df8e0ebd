// SPDX-License-Identifier: Apache-2.0
//
// The reverse pass: G[h][m] = d log Z / d A[h][m] of the scaled weights, by position, row = modifier.
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

/// Fills gradient, [n+1][ld]; row 0, the diagonal and columns beyond n are 0. `rest` takes, if not
/// null, 1 - E for positions 2..n. For data that is tame: no entry can then overflow.
void gradient(const Factors<double>& f, double* gradient, double* rest, Scratch& scratch);

/// The same by the definition over any scalar; `share` and `gu` are scratch for n+1 scalars each.
/// The reference of the tests, and the way for what is not tame: where A[h][k] (or A[k][m]) is 0, G is
/// left at 0. It would only ever be multiplied by 0, and might overflow.
template <typename T>
void gradient_simply(const Factors<T>& f, T* gradient, T* rest, T* share, T* gu) {
  const auto g = [&](int h, int m) -> T& {
    return gradient[static_cast<std::size_t>(m) * f.ld + static_cast<std::size_t>(h)];
  };
  const T zero = T(0);
  for (int m = 0; m <= f.n; ++m) {
    for (int h = 0; h <= f.n; ++h) g(h, m) = zero;
  }
  g(0, 1) = T(1) / f.pivot(1);
  for (int k = 2; k <= f.n; ++k) {
    const T* into = f.into(k);
    for (int h = 0; h < k; ++h) gu[h] = zero;
    for (int m = 1; m < k; ++m) {
      for (int h = 0; h < k; ++h) gu[h] += g(h, m) * f.out_of(k, m);
    }
    T e = zero;
    for (int h = 0; h < k; ++h) {
      share[h] = into[h] / f.pivot(k);
      e += share[h] * gu[h];
    }
    const T left = T(1) - e;
    if (rest != nullptr) rest[k] = left;
    for (int h = 0; h < k; ++h) {
      if (into[h] == zero) continue;
      const bool lone_root = h == 0 && f.root == RootRule::kSingle;
      g(h, k) = (lone_root ? gu[h] : left + gu[h]) / f.pivot(k);
    }
    for (int m = 1; m < k; ++m) {
      if (f.out_of(k, m) == zero) continue;
      for (int h = 0; h < k; ++h) g(k, m) += share[h] * g(h, m);
    }
  }
}

}  // namespace taproot::detail
