// SPDX-License-Identifier: Apache-2.0
//
// Elimination and the reverse pass by a cluster of thread blocks, for sentences that the shared
// memory of one block cannot hold: block r has the rows m with m mod size = r, and the blocks write
// to one another's shared memory. There is one barrier of the cluster per word.
#pragma once

#include <cooperative_groups.h>

#include "cuda/eliminate/factor.cuh"

namespace taproot::cuda {

template <typename T>
struct Cluster {
  int rank;
  int size;
  T* row[2];   ///< [n+1] each: the row of the current word, and of the next one.
  T* slots;    ///< [size][n+1]: every block's part of gu (see gradient.cuh).
  T* slots_e;  ///< [size]: every block's part of E.

  __device__ int owner(int m) const { return m % size; }
  __device__ T* own_row(const Work<T>& w, int m) const {
    return w.matrix + static_cast<std::int64_t>(m / size) * w.ld;
  }
  __device__ T* at(T* mine, int block) const {
    return cooperative_groups::this_cluster().map_shared_rank(mine, static_cast<unsigned>(block));
  }
  __device__ void sync() const { cooperative_groups::this_cluster().sync(); }

  /// The owner of row m sends its first `count` entries to all.
  __device__ void send_row(const Work<T>& w, int m, int count) const {
    if (owner(m) != rank) return;
    const T* from = own_row(w, m);
    for (int i = static_cast<int>(threadIdx.x); i < count * size;
         i += static_cast<int>(blockDim.x)) {
      at(row[m & 1], i / count)[i % count] = from[i % count];
    }
  }
};

/// Fills the block's own rows from weights in sentence order.
template <typename T>
__device__ inline void gather(const double* weights, int n, const Vectors& v, const Cluster<T>& c,
                              Work<T>& w) {
  for (int m = c.rank + c.size * warp_id(); m <= n; m += c.size * warp_count()) {
    if (m == 0) continue;
    T* row = c.own_row(w, m);
    for (int h = lane_id(); h <= n; h += kWarp) {
      row[h] =
          static_cast<T>(weights[static_cast<std::int64_t>(v.order[h]) * (n + 1) + v.order[m]]);
    }
  }
  __syncthreads();
}

template <typename T, int kChunk>
__device__ inline void factor(int n, bool single, const Cluster<T>& c, Work<T>& w) {
  const int lane = lane_id();
  c.send_row(w, n, n);
  c.sync();
  for (int k = n; k >= 2; --k) {
    const T* own = c.row[k & 1];
    T sum = 0;
#pragma unroll 4
    for (int h = lane; h < k; h += kWarp) sum += h > 0 || !single ? own[h] : T(0);
    sum = warp_sum(sum);
    const T inverse = T(1) / sum;
    if (threadIdx.x == 0) w.pivot[k] = sum;
    T share[kChunk];
#pragma unroll
    for (int j = 0; j < kChunk; ++j) {
      const int h = j * kWarp + lane;
      share[j] = h < k ? own[h] * inverse : T(0);
    }
    // From the top, so that the next row is sent first.
    const int last = (k - 1 - c.rank) / c.size * c.size + c.rank;
    for (int m = last - c.size * warp_id(); m >= 1; m -= c.size * warp_count()) {
      if (m >= k) continue;
      T* row = c.own_row(w, m);
      const T weight = row[k];
      const bool next = m == k - 1;
#pragma unroll
      for (int j = 0; j < kChunk; ++j) {
        const int h = j * kWarp + lane;
        if (h >= k) continue;
        const T x = fma(weight, share[j], row[h]);
        row[h] = x;
        if (next) {
          for (int r = 0; r < c.size; ++r) c.at(c.row[m & 1], r)[h] = x;
        }
      }
    }
    c.sync();
  }
  if (threadIdx.x == 0) w.pivot[1] = c.row[1][0];
  __syncthreads();
}

/// As gradient() of query/gradient.cuh.
template <typename T, int kChunk>
__device__ inline void gradient(int n, bool single, const Cluster<T>& c, Work<T>& w) {
  const int lane = lane_id();
  const int warp = warp_id();
  const int warps = warp_count();
  constexpr int kTile = kWarp * kChunk;
  if (c.owner(1) == c.rank && threadIdx.x == 0) {
    T* row = c.own_row(w, 1);
    row[0] = T(1) / w.pivot[1];
    row[1] = 0;
  }
  if (n >= 2) c.send_row(w, 2, 2);
  c.sync();
  for (int k = 2; k <= n; ++k) {
    const T* own = c.row[k & 1];
    const T inverse = T(1) / w.pivot[k];
    if (k < n) c.send_row(w, k + 1, k + 1);
    T share[kChunk];
    T gu[kChunk];
#pragma unroll
    for (int j = 0; j < kChunk; ++j) {
      const int h = j * kWarp + lane;
      share[j] = h < k ? own[h] * inverse : T(0);
      gu[j] = 0;
    }
    T e = 0;
    for (int m = c.rank + c.size * warp; m < k; m += c.size * warps) {
      if (m == 0) continue;
      const T* row = c.own_row(w, m);
      const T u = row[k];
      T dot = 0;
#pragma unroll
      for (int j = 0; j < kChunk; ++j) {
        const int h = j * kWarp + lane;
        const T g = h < k && h != m ? row[h] : T(0);
        gu[j] = fma(g, u, gu[j]);
        dot = fma(g, share[j], dot);
      }
      dot = warp_sum(dot);
      if (lane == 0) w.dots[m] = dot;
      e = fma(u, dot, e);
    }
#pragma unroll
    for (int j = 0; j < kChunk; ++j) w.part[warp * kTile + j * kWarp + lane] = gu[j];
    if (lane == 0) w.part_e[warp] = e;
    __syncthreads();
    const int to = c.owner(k);
    for (int h = static_cast<int>(threadIdx.x); h < k; h += static_cast<int>(blockDim.x)) {
      T sum = 0;
      for (int i = 0; i < warps; ++i) sum += w.part[i * kTile + h];
      c.at(c.slots, to)[c.rank * (n + 1) + h] = sum;
    }
    if (threadIdx.x == 0) {
      T sum = 0;
      for (int i = 0; i < warps; ++i) sum += w.part_e[i];
      c.at(c.slots_e, to)[c.rank] = sum;
    }
    c.sync();
    if (to == c.rank) {
      T total = 0;
      for (int r = 0; r < c.size; ++r) total += c.slots_e[r];
      const T rest = T(1) - total;
      T* row = c.own_row(w, k);
      for (int h = static_cast<int>(threadIdx.x); h < k; h += static_cast<int>(blockDim.x)) {
        T sum = 0;
        for (int r = 0; r < c.size; ++r) sum += c.slots[r * (n + 1) + h];
        row[h] = (h == 0 && single ? sum : rest + sum) * inverse;
      }
    }
    for (int m = c.rank + c.size * static_cast<int>(threadIdx.x); m < k;
         m += c.size * static_cast<int>(blockDim.x)) {
      if (m > 0) c.own_row(w, m)[k] = w.dots[m];
    }
    __syncthreads();
  }
}

}  // namespace taproot::cuda
