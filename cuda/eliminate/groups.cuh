// SPDX-License-Identifier: Apache-2.0
//
// Elimination by one thread block per sentence in groups of words, as src/eliminate/factor.cc does
// it. A group costs three barriers, not one per word, and its effect on the rows above is a matrix
// product of tiles in registers. No result depends on the number of threads.
//
// The matrix has whole groups of rows and columns. Those beyond the sentence are 0, and so is row
// 0: words that do not exist have no heads, no modifiers and an inverse pivot of 0.
#pragma once

#include "cuda/eliminate/factor.cuh"
#include "cuda/eliminate/layout.h"

namespace taproot::cuda {

/// Four numbers that follow one another, at a multiple of 16 bytes.
__device__ inline void load4(const float* from, float* x) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  x[0] = v.x;
  x[1] = v.y;
  x[2] = v.z;
  x[3] = v.w;
}
__device__ inline void load4(const double* from, double* x) {
  const double2 a = *reinterpret_cast<const double2*>(from);
  const double2 b = *reinterpret_cast<const double2*>(from + 2);
  x[0] = a.x;
  x[1] = a.y;
  x[2] = b.x;
  x[3] = b.y;
}
__device__ inline void store4(const float* x, float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(x[0], x[1], x[2], x[3]);
}
__device__ inline void store4(const double* x, double* to) {
  *reinterpret_cast<double2*>(to) = make_double2(x[0], x[1]);
  *reinterpret_cast<double2*>(to + 2) = make_double2(x[2], x[3]);
}
/// A group's entries of a row.
template <typename T>
__device__ inline void load8(const T* from, T* x) {
  load4(from, x);
  load4(from + 4, x + 4);
}
template <typename T>
__device__ inline void store8(const T* x, T* to) {
  store4(x, to);
  store4(x + 4, to + 4);
}

/// Sums over pairs of lanes whose numbers differ in `step`, of 2 kKeep values each: the lower lane
/// goes on with the first half of them, the upper with the second.
template <int kKeep, typename T>
__device__ inline void fold(T* values, int step) {
  const bool upper = (lane_id() & step) != 0;
#pragma unroll
  for (int i = 0; i < kKeep; ++i) {
    const T keep = upper ? values[i + kKeep] : values[i];
    const T send = upper ? values[i] : values[i + kKeep];
    values[i] = keep + shuffle_xor(send, step);
  }
}

/// The sums over all lanes of eight values. Lane l has that of value l / 4.
template <typename T>
__device__ inline T sums_of_eight(T* values) {
  fold<4>(values, 16);
  fold<2>(values, 8);
  fold<1>(values, 4);
  T sum = values[0];
  sum += shuffle_xor(sum, 2);
  sum += shuffle_xor(sum, 1);
  return sum;
}

/// The matrix of a sentence, with the memory of a group's step. kAtOnce steps of a loop have their
/// numbers on their way from memory at the same time: more than one where that is global memory.
template <typename T, int kAtOnce>
struct Groups {
  int n;
  bool single;
  const Work<T>& work;
  int side;  ///< Rows of the matrix.
  T* pivot;
  T* inverse;  ///< 1 / pivot; 0 for ROOT and beyond the sentence.
  T* across;   ///< [8][side]: of the group's rows. The shares, or gu.
  T* along;    ///< [8][side] or [side][8]: of the group's columns.
  T* squares;  ///< Four of [8][8], two of [8].

  __device__ Groups(int words, bool single_root, const Work<T>& w)
      : n(words),
        single(single_root),
        work(w),
        side(Layout::rows_in_groups(words)),
        pivot(w.pivot),
        inverse(w.inverse),
        across(w.panels),
        along(w.panels + kGroup * side),
        squares(w.squares) {}

  __device__ T* row(int m) const { return work.row(m); }
  __device__ T* square(int i) const { return squares + i * kGroup * kGroup; }

  /// Eliminates the words of a group within the group: its columns and the sums of its rows over
  /// all heads before it are enough for that. By one warp; lane l has the row of word l mod 8.
  __device__ void eliminate_within(int begin) const {
    const int lane = lane_id();
    const int own = lane % kGroup;
    T sums[kGroup] = {};
#pragma unroll kAtOnce
    for (int h = lane; h < begin; h += kWarp) {
      const bool counts = h > 0 || !single;
#pragma unroll
      for (int k = 0; k < kGroup; ++k) sums[k] += counts ? row(begin + k)[h] : T(0);
    }
    T before = __shfl_sync(kAllLanes, sums_of_eight(sums), own * 4);
    T x[kGroup];
    load8(row(begin + own) + begin, x);
    T own_pivot = 0;
    T own_inverse = 0;
#pragma unroll
    for (int k = kGroup - 1; k > 0; --k) {
      T sum = before;
#pragma unroll
      for (int j = 0; j < k; ++j) {
        // The last word of all has ROOT alone for a head.
        if (j > 0 || begin > 0 || !single || k == 1) sum += x[j];
      }
      const T pivot_here = __shfl_sync(kAllLanes, sum, k);
      const T inverse_here = begin + k <= n ? T(1) / pivot_here : T(0);
      if (own == k) {
        own_pivot = pivot_here;
        own_inverse = inverse_here;
      }
      const T weight = own < k ? x[k] : T(0);
#pragma unroll
      for (int j = 0; j < k; ++j) {
        x[j] = multiply_add(weight, __shfl_sync(kAllLanes, x[j], k) * inverse_here, x[j]);
      }
      before = multiply_add(weight, __shfl_sync(kAllLanes, before, k) * inverse_here, before);
    }
    if (begin > 0) {  // The first word of the group; in the first group, ROOT.
      own_pivot = own == 0 ? before : own_pivot;
      own_inverse = own == 0 ? (begin <= n ? T(1) / before : T(0)) : own_inverse;
    }
    __syncwarp();  // All lanes have read what the first eight overwrite.
    if (lane >= kGroup) return;
    store8(x, row(begin + own) + begin);
    store8(x, square(1) + own * kGroup);
    pivot[begin + own] = own_pivot;
    inverse[begin + own] = own_inverse;
#pragma unroll
    for (int j = 0; j < kGroup; ++j) x[j] *= own_inverse;
    store8(x, square(0) + own * kGroup);  // The shares, of heads before the word.
  }

  /// Completes the group's columns in the rows above it, and its own rows.
  __device__ void complete(int begin) const {
    const int half = (begin + kWarp - 1) / kWarp * kWarp;  // So that no warp does both.
    const T* shares = square(0);
    const T* weights = square(1);
    for (int i = static_cast<int>(threadIdx.x); i < 2 * half; i += static_cast<int>(blockDim.x)) {
      const int at = i < half ? i : i - half;
      if (at >= begin) continue;
      T x[kGroup];
      if (i < half) {
        load8(row(at) + begin, x);
#pragma unroll
        for (int l = kGroup - 1; l > 0; --l) {
#pragma unroll
          for (int k = 0; k < l; ++k) x[k] = multiply_add(x[l], shares[l * kGroup + k], x[k]);
        }
        store8(x, row(at) + begin);
#pragma unroll
        for (int k = 0; k < kGroup; ++k) along[k * side + at] = x[k];
      } else {
#pragma unroll
        for (int k = 0; k < kGroup; ++k) x[k] = row(begin + k)[at];
#pragma unroll
        for (int l = kGroup - 1; l >= 0; --l) {
          row(begin + l)[at] = x[l];
          const T share = x[l] * inverse[begin + l];
          across[l * side + at] = share;
#pragma unroll
          for (int k = 0; k < l; ++k) {
            x[k] = multiply_add(weights[k * kGroup + l], share, x[k]);
          }
        }
      }
    }
  }

  /// Adds what the group contributes to the rows and columns before it, by tiles of 4 x 4.
  __device__ void update(int begin) const {
    constexpr int kTiles = kAtOnce > 1 ? 2 : 1;
    const int side_of_tiles = begin / 4;
    const int tiles = side_of_tiles * side_of_tiles;
    const int threads = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < tiles; i += kTiles * threads) {
      T c[kTiles][4][4];
      int m[kTiles];
      int h[kTiles];
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        // Where there is no further tile, the first one again: all others belong to other threads.
        const int tile = i + t * threads < tiles ? i + t * threads : i;
        m[t] = tile / side_of_tiles * 4;
        h[t] = tile % side_of_tiles * 4;
#pragma unroll
        for (int r = 0; r < 4; ++r) load4(row(m[t] + r) + h[t], c[t][r]);
      }
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        if (i + t * threads >= tiles) break;
#pragma unroll
        for (int k = kGroup - 1; k >= 0; --k) {
          T weight[4];
          T share[4];
          load4(along + k * side + m[t], weight);
          load4(across + k * side + h[t], share);
#pragma unroll
          for (int r = 0; r < 4; ++r) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              c[t][r][j] = multiply_add(weight[r], share[j], c[t][r][j]);
            }
          }
        }
#pragma unroll
        for (int r = 0; r < 4; ++r) store4(c[t][r], row(m[t] + r) + h[t]);
      }
    }
  }
};

/// 1 / pivot from the pivots of an elimination that is done, with the cells beyond the sentence
/// set to 0. The other cells of the matrix are the caller's.
template <typename T>
__device__ inline void invert_pivots(int n, const Work<T>& w) {
  const int side = Layout::rows_in_groups(n);
  const int threads = static_cast<int>(blockDim.x);
  for (int k = static_cast<int>(threadIdx.x); k < side; k += threads) {
    w.inverse[k] = k > 0 && k <= n ? T(1) / w.pivot[k] : T(0);
  }
  for (int m = warp_id(); m < side; m += warp_count()) {
    T* row = w.row(m);
    const int first = m == 0 || m > n ? 0 : n + 1;
    for (int h = first + lane_id(); h < side; h += kWarp) row[h] = 0;
  }
}

/// gather() into whole groups of rows and columns.
template <bool kShared, typename T>
__device__ inline void gather_in_groups(const double* weights, int n, const Vectors& v,
                                        const Work<T>& w) {
  const int side = Layout::rows_in_groups(n);
  constexpr int kAtOnce = 8;  // Weights that are on their way from memory.
  if constexpr (!kShared) {   // Neighboring threads write what follows in memory.
    for (int m = warp_id(); m < side; m += warp_count()) {
      const bool is_word = m > 0 && m <= n;
      const int word = is_word ? v.order[m] : 0;
      T* row = w.row(m);
      for (int h0 = lane_id(); h0 < side; h0 += kAtOnce * kWarp) {
        double x[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const int head = v.order[min(h0 + i * kWarp, n)];
          x[i] = weights[static_cast<std::int64_t>(head) * (n + 1) + word];
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const int h = h0 + i * kWarp;
          if (h < side) row[h] = is_word && h <= n ? static_cast<T>(x[i]) : T(0);
        }
      }
    }
    __syncthreads();
    return;
  }
  const Columns c(side - 1);
  if (c.active()) {
    for (int m = c.first; m < side; m += c.width) {
      const bool is_word = m > 0 && m <= n;
      const int word = is_word ? v.order[m] : 0;
      T* row = w.row(m);
      for (int h0 = c.group; h0 < side; h0 += kAtOnce * c.groups) {
        double x[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const int head = v.order[min(h0 + i * c.groups, n)];
          x[i] = weights[static_cast<std::int64_t>(head) * (n + 1) + word];
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const int h = h0 + i * c.groups;
          if (h < side) row[h] = is_word && h <= n ? static_cast<T>(x[i]) : T(0);
        }
      }
    }
  }
  __syncthreads();
}

/// factor() in groups of words.
template <int kAtOnce, typename T>
__device__ inline void factor_in_groups(int n, bool single, const Work<T>& w) {
  const Groups<T, kAtOnce> groups(n, single, w);
  for (int begin = n / kGroup * kGroup;; begin -= kGroup) {
    if (warp_id() == 0) groups.eliminate_within(begin);
    __syncthreads();
    if (begin == 0) return;
    groups.complete(begin);
    __syncthreads();
    groups.update(begin);
    __syncthreads();
  }
}

}  // namespace taproot::cuda
