// SPDX-License-Identifier: Apache-2.0
//
// The reverse pass of src/reverse/gradient.h by one thread block per sentence, in place: when k
// comes back, its row and column of factors are read for the last time, and G's take their cells.
#pragma once

#include "core/probability.h"
#include "cuda/eliminate/factor.cuh"

namespace taproot::cuda {

/// Turns the factors into G[h][m] at matrix[m][h]. The diagonal and row 0 hold anything.
///
/// With u = A[k][.] and share = A[.][k] / pivot, one pass over the rows m gives the two vectors
/// gu[h] = sum G[h][m] u[m] and G[k][m] = sum share[h] G[h][m]; and E = sum share gu is also
/// sum u[m] G[k][m].
template <typename T, int kChunk>
__device__ inline void gradient(int n, bool single, Work<T>& w) {
  const int lane = lane_id();
  const int warp = warp_id();
  const int warps = warp_count();
  constexpr int kTile = kWarp * kChunk;
  constexpr int kRows = 4;  // Rows whose sums over lanes are taken together.
  if (threadIdx.x == 0) {
    w.matrix[w.ld] = T(1) / w.pivot[1];
    w.matrix[w.ld + 1] = 0;
  }
  __syncthreads();
  for (int k = 2; k <= n; ++k) {
    T* own = w.matrix + static_cast<std::int64_t>(k) * w.ld;
    const T inverse = T(1) / w.pivot[k];
    T e = 0;
    for (int h0 = 0; h0 < k; h0 += kTile) {
      T share[kChunk];
      T gu[kChunk];
#pragma unroll
      for (int j = 0; j < kChunk; ++j) {
        const int h = h0 + j * kWarp + lane;
        share[j] = h < k ? own[h] * inverse : T(0);
        gu[j] = 0;
      }
      for (int m0 = 1 + warp * kRows; m0 < k; m0 += warps * kRows) {
        T dot[kRows];
        T u[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const int m = m0 + r;
          const T* row = w.matrix + static_cast<std::int64_t>(m < k ? m : 1) * w.ld;
          u[r] = m < k ? row[k] : T(0);
          dot[r] = 0;
#pragma unroll
          for (int j = 0; j < kChunk; ++j) {
            const int h = h0 + j * kWarp + lane;
            // The cell on the diagonal does not belong to G, and counts as 0.
            const T g = h < k && h != m ? row[h] : T(0);
            gu[j] = multiply_add(g, u[r], gu[j]);
            dot[r] = multiply_add(g, share[j], dot[r]);
          }
        }
        // Four sums over lanes at once: each half of the warp goes on with two, each quarter with
        // one.
        const bool upper = (lane & 16) != 0;
        T a = upper ? dot[2] : dot[0];
        T b = upper ? dot[3] : dot[1];
        a += shuffle_xor(upper ? dot[0] : dot[2], 16);
        b += shuffle_xor(upper ? dot[1] : dot[3], 16);
        const bool odd = (lane & 8) != 0;
        T mine = (odd ? b : a) + shuffle_xor(odd ? a : b, 8);
        mine += shuffle_xor(mine, 4);
        mine += shuffle_xor(mine, 2);
        mine += shuffle_xor(mine, 1);
        const int r = lane / 8;  // 0..3: rows 0, 1 in the lower half, 2, 3 in the upper.
        const T of = r < 2 ? (r == 0 ? u[0] : u[1]) : (r == 2 ? u[2] : u[3]);
        if (lane % 8 == 0 && m0 + r < k) {
          w.dots[m0 + r] = h0 == 0 ? mine : w.dots[m0 + r] + mine;
          e = multiply_add(of, mine, e);
        }
      }
#pragma unroll
      for (int j = 0; j < kChunk; ++j) w.part[warp * kTile + j * kWarp + lane] = gu[j];
      const bool last_tile = h0 + kTile >= k;
      if (last_tile) {
        const T sum = warp_sum(e);
        if (lane == 0) w.part_e[warp] = sum;
      }
      __syncthreads();
      // The cells of row k hold gu until E is known. The factors that were there are no longer
      // needed.
      for (int h = h0 + static_cast<int>(threadIdx.x); h < min(k, h0 + kTile);
           h += static_cast<int>(blockDim.x)) {
        T sum = 0;
        for (int i = 0; i < warps; ++i) sum += w.part[i * kTile + h - h0];
        own[h] = sum;
      }
      if (!last_tile) __syncthreads();
    }
    T total = 0;
    for (int i = 0; i < warps; ++i) total += w.part_e[i];
    const T rest = T(1) - total;
    // Each thread finishes the cells that it wrote itself.
    for (int h0 = 0; h0 < k; h0 += kTile) {
      for (int h = h0 + static_cast<int>(threadIdx.x); h < min(k, h0 + kTile);
           h += static_cast<int>(blockDim.x)) {
        own[h] = (h == 0 && single ? own[h] : rest + own[h]) * inverse;
      }
    }
    for (int m = 1 + static_cast<int>(threadIdx.x); m < k; m += static_cast<int>(blockDim.x)) {
      w.matrix[static_cast<std::int64_t>(m) * w.ld + k] = w.dots[m];
    }
    __syncthreads();
  }
}

/// The ROOT row of G alone, single-root, into g[1..n], by the first warp, which calls it. Free of
/// subtraction. row(m) is where row m of the factors is.
template <typename T, typename Row>
__device__ inline void root_gradient(int n, Row&& row, const T* pivot, T* g) {
  for (int k = 1 + lane_id(); k <= n; k += kWarp) g[k] = k == 1 ? T(1) : T(0);
  __syncwarp();
  for (int m = 1; m <= n; ++m) {
    const T own = g[m] / pivot[m];
    __syncwarp();
    if (lane_id() == 0) g[m] = own;
    const T* factors = row(m);
    for (int k = m + 1 + lane_id(); k <= n; k += kWarp) g[k] = multiply_add(own, factors[k], g[k]);
    __syncwarp();
  }
}

/// The law of the root: p(0 -> m) into root_law[m - 1].
template <typename T, typename Row>
__device__ inline void write_root_law(int n, Row&& row, const Work<T>& w, const double* weights,
                                      const int* order, double* root_law) {
  root_gradient(n, row, w.pivot, w.dots);
  for (int k = 1 + lane_id(); k <= n; k += kWarp) {
    const int word = order[k];
    root_law[word - 1] =
        detail::nearest_probability(weights[word] * static_cast<double>(w.dots[k]));
  }
}

}  // namespace taproot::cuda
