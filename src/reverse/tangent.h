// SPDX-License-Identifier: Apache-2.0
//
// The derivative of the reverse pass when the weights move: dG, given G and dA of the weights as
// they were before any elimination, by position, row = modifier. The values of both passes are
// known, so only tangents are computed. Elimination, for k = n..2, with P_k = pivot_k:
//   dP_k        = sum over h < k of dA[h][k]              (single-root: without ROOT)
//   dshare_k[h] = (dA[h][k] - share_k[h] dP_k) / P_k
//   dA[h][m]   += dA[k][m] share_k[h] + A[k][m] dshare_k[h]
// and the reverse pass, from dG[0][1] = -dP_1 / P_1^2, for k = 2..n:
//   dgu[h]   = sum over m < k of dG[h][m] A[k][m] + G[h][m] dA[k][m]
//   dE       = sum over h < k of dshare_k[h] gu[h] + share_k[h] dgu[h]
//   dG[h][k] = (dgu[h] - dE - G[h][k] dP_k) / P_k         (single-root, h = ROOT: without dE)
//   dG[k][m] = sum over h < k of dshare_k[h] G[h][m] + share_k[h] dG[h][m]
// The dshare_k sum to 0 (single-root: without ROOT, for which P_k G[0][k] = gu[0]), so P_k G[h][k]
// may stand for gu[h] in dE.
#pragma once

#include "core/buffer.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Fills gradient_tangent, [n+1][ld], as gradient() does, for factors that are tame. `tangent` is
/// dA on entry, but for the diagonal and row 0, which may hold any finite number; it is used up.
void gradient_tangent(const Factors<double>& f, const double* gradient, double* tangent,
                      double* gradient_tangent, Scratch& scratch);

/// The same by the definition over any scalar; `rows` is scratch for 4 (n+1) scalars.
template <typename T>
void gradient_tangent_simply(const Factors<T>& f, const T* gradient, T* tangent,
                             T* gradient_tangent, T* rows) {
  const auto at = [&](int h, int m) {
    return static_cast<std::size_t>(m) * f.ld + static_cast<std::size_t>(h);
  };
  const auto g = [&](int h, int m) { return gradient[at(h, m)]; };
  const auto da = [&](int h, int m) -> T& { return tangent[at(h, m)]; };
  const auto dg = [&](int h, int m) -> T& { return gradient_tangent[at(h, m)]; };
  const auto length = static_cast<std::size_t>(f.n) + 1;
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
      da(h, k) = (da(h, k) - share[h] * dpivot[k]) / f.pivot(k);  // From here on dshare_k.
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
