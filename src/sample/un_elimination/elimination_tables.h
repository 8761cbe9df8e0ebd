// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/host_device.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// The tables that un-elimination reads, by position: the factors, and two matrices made from them
/// so that all scans run along rows. All matrices have rows of ld.
template <typename T>
struct EliminationTables {
  int n;
  RootRule root;
  std::size_t ld;
  const T* matrix;       ///< Factors<T>::matrix
  const T* pivot_data;   ///< Factors<T>::pivot_data
  const T* share_data;   ///< [h][l] = A[h][l] / pivot_l when l was eliminated, l > h
  const T* direct_data;  ///< [m][h] = A0[h][m], the weights before any elimination
  /// [k][b] is the sum of into(k) over the heads in blocks 0..b of eight (single-root: without
  /// ROOT), and +inf beyond the last block. Rows of block_ld. Not all choosers use it.
  const T* block_end;
  std::size_t block_ld;

  TAPROOT_HOST_DEVICE const T* into(int k) const {
    return matrix + static_cast<std::size_t>(k) * ld;
  }
  TAPROOT_HOST_DEVICE const T& pivot(int k) const { return pivot_data[k]; }
  TAPROOT_HOST_DEVICE const T* share_of(int head) const {
    return share_data + static_cast<std::size_t>(head) * ld;
  }
  TAPROOT_HOST_DEVICE const T& direct(int head, int modifier) const {
    return direct_data[static_cast<std::size_t>(modifier) * ld + static_cast<std::size_t>(head)];
  }
};

/// The entries that depend on the edges out of ROOT, n+1 of each kind. Replacing them conditions
/// the sampler on a root.
template <typename T>
struct RootColumn {
  const T* into;    ///< A[0][k] when k was eliminated
  const T* share;   ///< into[k] / pivot_k
  const T* direct;  ///< A0[0][k]
};

/// Fills a root column from direct[1..n] by repeating the elimination for the ROOT row alone.
/// O(n^2).
template <typename T>
TAPROOT_HOST_DEVICE void eliminate_root_row(const EliminationTables<T>& t, const T* direct, T* into,
                                            T* share) {
  for (int k = 1; k <= t.n; ++k) into[k] = direct[k];
  for (int k = t.n; k >= 2; --k) {
    share[k] = into[k] / t.pivot(k);
    if (!(T(0) < into[k])) continue;  // 0 for words that were eliminated before the given root.
    for (int m = 1; m < k; ++m) into[m] += t.into(m)[k] * share[k];
  }
  share[1] = T(0);
}

/// The memory for sampling one tree, n+2 entries each.
template <typename T>
struct UnEliminationScratch {
  std::int32_t* head;
  std::int32_t* first_broken;  ///< first_broken[k] starts the list of words whose edge breaks at k.
  std::int32_t* next_broken;   ///< next_broken[m] is the word after m in its list, or 0.
  std::int32_t* children;      ///< The number of modifiers of each node.
  std::uint8_t* mark;          ///< Whether a node is connected to ROOT.
  T* weight;                   ///< The weights of the connected heads.
};

}  // namespace taproot::detail
