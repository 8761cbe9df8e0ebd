// SPDX-License-Identifier: Apache-2.0
//
// The reverse pass in groups of words, in place, by one thread block per sentence. With the words k
// of a group, U[k][m] = A[k][m] and G over the words m and heads h before the group, the sums of
// gradient.cuh over these are two matrix products:
//   X[m][k] = sum over h of G[h][m] A[h][k]        gu[k][h] = sum over m of U[k][m] G[h][m]
// The columns of G[k][m] follow from X by a triangle of A within the group, all non-negative. The
// words of the group need one another only through squares of 8 x 8: with B = U X,
//   sum over h of share_k[h] gu[j][h]  is  B[j][k] / pivot_k
//   sum over m of U[j][m] G[k][m]      follows from B[j] as G[.][m] does from X[m].
// So one warp finds all 1 - E_k, while the others are still at gu.
#pragma once

#include "cuda/eliminate/groups.cuh"

namespace taproot::cuda {

template <typename T, int kAtOnce>
struct ReverseGroups : Groups<T, kAtOnce> {
  using Base = Groups<T, kAtOnce>;
  using Base::across;
  using Base::along;
  using Base::inverse;
  using Base::row;
  using Base::side;

  /// The part of the shared memory that is laid out as squares.
  T* own;        ///< [8][8]: the group's factors, row = modifier.
  T* products;   ///< [8][8]: B.
  T* of_heads;   ///< [8][8]: sum over m of U[j][m] G[k][m] at [j][k].
  T* of_shares;  ///< [8][8]: sum over h of share_k[h] G[h][j] but for what comes from 1 - E, at
                 ///< [k][j].
  T* sums;       ///< [8]: the shares of all heads before the group, single-root without ROOT.
  T* rest;       ///< [8]: 1 - E.

  __device__ ReverseGroups(int words, bool single_root, const Work<T>& w)
      : Base(words, single_root, w),
        own(this->square(0)),
        products(this->square(1)),
        of_heads(this->square(2)),
        of_shares(this->square(3)),
        sums(this->square(4)),
        rest(sums + kGroup) {}

  /// X, into `along` as [m][8], by tiles of four rows and eight columns; eight lanes share a tile's
  /// sums.
  __device__ void multiply_by_heads(int begin) const {
    const int tiles = begin / 4;  // Rows t, t + tiles, ...: neighboring lanes have other banks.
    const int split = lane_id() / 4;
    for (int task = warp_id(); task * 4 < tiles; task += warp_count()) {
      const int t = task * 4 + lane_id() % 4;
      const int first = min(t, tiles - 1);
      T x[4][kGroup] = {};
#pragma unroll(kAtOnce > 2 ? 2 : 1)
      for (int h = 4 * split; h < begin; h += kWarp) {
        T g[4][4];
#pragma unroll
        for (int r = 0; r < 4; ++r) load4(row(first + r * tiles) + h, g[r]);
#pragma unroll
        for (int k = 0; k < kGroup; ++k) {
          T a[4];
          load4(row(begin + k) + h, a);
#pragma unroll
          for (int j = 0; j < 4; ++j) {
#pragma unroll
            for (int r = 0; r < 4; ++r) x[r][k] = multiply_add(g[r][j], a[j], x[r][k]);
          }
        }
      }
      T* const values = &x[0][0];
      fold<16>(values, 16);
      fold<8>(values, 8);
      fold<4>(values, 4);
      if (t < tiles) store4(values, along + (t + split / 2 * tiles) * kGroup + split % 2 * 4);
    }
  }

  /// gu, into `across`, likewise: four columns of the task's 16 per tile.
  __device__ void multiply_by_modifiers(int begin, int task) const {
    const int split = lane_id() / 4;
    const int h = task * 16 + lane_id() % 4 * 4;
    const int column = min(h, begin - 4);
    T x[kGroup][4] = {};
#pragma unroll kAtOnce
    for (int m = split; m < begin; m += kGroup) {
      const T* from = row(m);
      T g[4];
      T u[kGroup];
      load4(from + column, g);
      load8(from + begin, u);
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) x[k][j] = multiply_add(u[k], g[j], x[k][j]);
      }
    }
    T* const values = &x[0][0];
    fold<16>(values, 16);
    fold<8>(values, 8);
    fold<4>(values, 4);
    if (h < begin) store4(values, across + split * side + h);
  }

  /// B and the sums of shares, one row per warp.
  __device__ void multiply_within(int begin) const {
    const int lane = lane_id();
    for (int j = warp_id(); j < kGroup; j += warp_count()) {
      T x[kGroup] = {};
      T sum = 0;
#pragma unroll kAtOnce
      for (int m = lane; m < begin; m += kWarp) {
        const T u = row(m)[begin + j];
        T of_heads_m[kGroup];
        load8(along + m * kGroup, of_heads_m);
#pragma unroll
        for (int k = 0; k < kGroup; ++k) x[k] = multiply_add(u, of_heads_m[k], x[k]);
        if (m > 0 || !this->single) sum += row(begin + j)[m];
      }
      const T product = sums_of_eight(x);
      sum = warp_sum(sum);
      if (lane % 4 == 0) products[j * kGroup + lane / 4] = product;
      if (lane == 0) sums[j] = sum * inverse[begin + j];
    }
  }

  /// From X to G[k][m] for a row m, in place.
  __device__ void solve_row(int begin, int m) const {
    T x[kGroup];
    load8(along + m * kGroup, x);
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      x[k] *= inverse[begin + k];
#pragma unroll
      for (int l = k + 1; l < kGroup; ++l) x[l] = multiply_add(x[k], own[l * kGroup + k], x[l]);
    }
    store8(x, along + m * kGroup);
  }

  /// Brings the words back within the group, which gives 1 - E and G over pairs of them. By one
  /// warp.
  __device__ void return_within(int begin) const {
    const int lane = lane_id();
    const int l = lane % kGroup;
    T inverses[kGroup];
    load8(inverse + begin, inverses);
    T e_before = 0;  // E of word l without the edges between words of the group.
    {
      // Lanes 0 to 7 solve for of_heads, lanes 8 to 15 for of_shares.
      const bool second = (lane & kGroup) != 0;
      const T own_inverse = inverse[begin + l];
      T x[kGroup];
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        x[k] = second ? products[k * kGroup + l] * own_inverse : products[l * kGroup + k];
      }
      e_before = products[l * kGroup + l];
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        x[k] *= inverses[k];
#pragma unroll
        for (int i = k + 1; i < kGroup; ++i) {
          x[i] = multiply_add(x[k], own[second ? k * kGroup + i : i * kGroup + k], x[i]);
        }
        if (k < l) e_before = multiply_add(own[l * kGroup + k], x[k], e_before);
      }
      e_before *= own_inverse;  // Right in lanes 0 to 7.
      if (lane < 2 * kGroup) store8(x, (second ? of_shares : of_heads) + l * kGroup);
    }
    __syncwarp();
    T into[kGroup] = {};    // G[h][l]
    T out_of[kGroup] = {};  // G[l][m]
    T of_rest = 0;          // What a constant in the columns before the group is multiplied by.
    T own_rest = 0;
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      const T inverse_here = inverses[k];
      const bool before = l < k;
      const T u = before ? own[l * kGroup + k] : T(0);
      T g = of_shares[k * kGroup + l];
      T gu = of_heads[k * kGroup + l];
#pragma unroll
      for (int i = 0; i < k; ++i) {
        g = multiply_add(own[k * kGroup + i] * inverse_here, into[i], g);
        gu = multiply_add(own[i * kGroup + k], out_of[i], gu);
      }
      g = multiply_add(sums[k], of_rest, g);
      T e = before ? u * g : T(0);
      T r = u * of_rest;
#pragma unroll
      for (int step = 1; step < kGroup; step *= 2) {
        e += shuffle_xor(e, step);
        r += shuffle_xor(r, step);
      }
      const T rest_here = T(1) - (__shfl_sync(kAllLanes, e_before, k) + e);
      const bool lone_root = begin == 0 && l == 0 && this->single;
      T to = (lone_root ? gu : rest_here + gu) * inverse_here;
      if (begin == 0 && k == 1) to = inverse_here;  // The word that was eliminated last.
      if (before) {
        into[k] = g;
        out_of[k] = to;
      }
#pragma unroll
      for (int i = 0; i < k; ++i) {
        const T of_into = __shfl_sync(kAllLanes, to, i);
        const T of_out = __shfl_sync(kAllLanes, g, i);
        if (l == k) {
          into[i] = of_into;
          out_of[i] = of_out;
        }
      }
      if (l == k) {
        of_rest = (rest_here + r) * inverse_here;
        own_rest = rest_here;
      }
    }
    if (lane < kGroup) {
      rest[l] = own_rest;
      store8(into, row(begin + l) + begin);  // The diagonal is 0.
    }
  }

  /// Writes the group's rows and columns of G over the heads and words before it.
  __device__ void write_group(int begin) const {
    const int half = (begin + kWarp - 1) / kWarp * kWarp;  // So that no warp does both.
    for (int i = static_cast<int>(threadIdx.x); i < 2 * half; i += static_cast<int>(blockDim.x)) {
      const int at = i < half ? i : i - half;
      if (at >= begin) continue;
      T x[kGroup];
      if (i < half) {
        load8(along + at * kGroup, x);
        store8(x, row(at) + begin);
        continue;
      }
      const bool lone_root = at == 0 && this->single;
#pragma unroll
      for (int k = 0; k < kGroup; ++k) x[k] = across[k * side + at];
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        x[k] = (lone_root ? x[k] : rest[k] + x[k]) * inverse[begin + k];
        row(begin + k)[at] = x[k];
#pragma unroll
        for (int j = k + 1; j < kGroup; ++j) {
          x[j] = multiply_add(own[k * kGroup + j], x[k], x[j]);
        }
      }
    }
  }
};

/// gradient() in groups of words. The diagonal and row 0 are 0 in the end.
template <int kAtOnce, typename T>
__device__ inline void gradient_in_groups(int n, bool single, const Work<T>& w) {
  const ReverseGroups<T, kAtOnce> groups(n, single, w);
  for (int begin = 0; begin <= n; begin += kGroup) {
    for (int i = static_cast<int>(threadIdx.x); i < kGroup * kGroup;
         i += static_cast<int>(blockDim.x)) {
      groups.own[i] = groups.row(begin + i / kGroup)[begin + i % kGroup];
    }
    groups.multiply_by_heads(begin);
    __syncthreads();
    groups.multiply_within(begin);
    __syncthreads();
    // The first warp is busy with the group itself.
    if (warp_id() == 0) {
      groups.return_within(begin);
    } else {
      const int products = (begin + 15) / 16;
      const int tasks = products + (begin + kWarp - 1) / kWarp;
      for (int task = warp_id() - 1; task < tasks; task += warp_count() - 1) {
        if (task < products) {
          groups.multiply_by_modifiers(begin, task);
        } else {
          const int m = (task - products) * kWarp + lane_id();
          if (m < begin) groups.solve_row(begin, m);
        }
      }
    }
    __syncthreads();
    groups.write_group(begin);
    __syncthreads();
  }
}

}  // namespace taproot::cuda
