// SPDX-License-Identifier: Apache-2.0
//
// The derivative of the reverse pass: dG, given G and the derivatives dA of the weights before any
// elimination, by position, row = modifier. The values of elimination and reverse pass are known,
// so only derivatives are computed. Elimination, for k = n..2, with P_k = pivot_k:
//   dP_k        = sum over h < k of dA[h][k]              (single-root: without ROOT)
//   dshare_k[h] = (dA[h][k] - share_k[h] dP_k) / P_k
//   dA[h][m]   += dA[k][m] share_k[h] + A[k][m] dshare_k[h]
// and the reverse pass, from dG[0][1] = -dP_1 / P_1^2, for k = 2..n:
//   dgu[h]   = sum over m < k of dG[h][m] A[k][m] + G[h][m] dA[k][m]
//   dE       = sum over h < k of dshare_k[h] gu[h] + share_k[h] dgu[h]
//   dG[h][k] = (dgu[h] - dE - G[h][k] dP_k) / P_k         (single-root, h = ROOT: without dE)
//   dG[k][m] = sum over h < k of dshare_k[h] G[h][m] + share_k[h] dG[h][m]
// dE may use P_k G[h][k] in place of gu[h]. The two differ by 1 - E for all heads alike, and the
// dshare_k[h] sum to 0. (Single-root, this holds without ROOT, for which P_k G[0][k] = gu[0].)
#pragma once

#include "core/buffer.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Fills gradient_tangent, [n+1][ld], with dG, in the layout of gradient(). The factors must be
/// tame. `tangent` holds dA on entry and is overwritten. Its diagonal and row 0 may hold any finite
/// numbers.
void gradient_tangent(const Factors<double>& f, const double* gradient, double* tangent,
                      double* gradient_tangent, Scratch& scratch);

/// gradient_tangent() by its definition, over any scalar. `rows` is scratch memory for 4 (n+1)
/// scalars.
template <typename T>
void gradient_tangent_simply(const Factors<T>& f, const T* gradient, T* tangent,
                             T* gradient_tangent, T* rows) {
  const auto g = [&](int h, int m) { return MatrixView(gradient, f.ld)(m, h); };
  const auto da = [&](int h, int m) -> T& { return MatrixView(tangent, f.ld)(m, h); };
  const auto dg = [&](int h, int m) -> T& { return MatrixView(gradient_tangent, f.ld)(m, h); };
  const std::size_t length = node_count(f.n);
  T* share = rows;
  T* dshare = rows + length;
  T* dgu = rows + 2 * length;
  T* dpivot = rows + 3 * length;
  const int first = f.root == RootRule::kSingle ? 1 : 0;
  for (int k = f.n; k >= 2; --k) {
    dpivot[k] = T(0);
    for (int h = first; h < k; ++h) dpivot[k] += da(h, k);
    for (int h = 0; h < k; ++h) {
      share[h] = f.into(k)[h] / f.pivot(k);
      da(h, k) = (da(h, k) - share[h] * dpivot[k]) / f.pivot(k);  // Now dshare_k[h].
    }
    for (int m = 1; m < k; ++m) {
      for (int h = 0; h < k; ++h) da(h, m) += da(k, m) * share[h] + f.out_of(k, m) * da(h, k);
    }
  }
  for (int m = 0; m <= f.n; ++m) {
    for (int h = 0; h <= f.n; ++h) dg(h, m) = T(0);
  }
  dg(0, 1) = -(da(0, 1) / f.pivot(1) / f.pivot(1));
  for (int k = 2; k <= f.n; ++k) {
    T de = T(0);
    for (int h = 0; h < k; ++h) {
      share[h] = f.into(k)[h] / f.pivot(k);
      dshare[h] = da(h, k);
      dgu[h] = T(0);
      for (int m = 1; m < k; ++m) dgu[h] += dg(h, m) * f.out_of(k, m) + g(h, m) * da(k, m);
      de += dshare[h] * (g(h, k) * f.pivot(k)) + share[h] * dgu[h];
    }
    for (int h = 0; h < k; ++h) {
      const T rest = dgu[h] - g(h, k) * dpivot[k];
      dg(h, k) = (h < first ? rest : rest - de) / f.pivot(k);
    }
    for (int m = 1; m < k; ++m) {
      for (int h = 0; h < k; ++h) dg(k, m) += dshare[h] * g(h, m) + share[h] * dg(h, m);
    }
  }
}

}  // namespace taproot::detail
