// SPDX-License-Identifier: Apache-2.0
//
// Elimination by one thread block per sentence: src/eliminate/factor.h, word by word, with a warp
// for each row. Row m of `matrix` holds the weights of the heads of the word at position m.
#pragma once

#include "core/scaled_product.h"
#include "cuda/core/warp.cuh"
#include "cuda/scores/prepare.cuh"

namespace taproot::cuda {

/// Where the matrix and its vectors are.
template <typename T>
struct Work {
  T* matrix;  ///< [n+1][ld], row = modifier, by position; in shared memory if it fits.
  int ld;     ///< Odd, so that a walk down a column meets all banks; in groups see Layout.
  T* pivot;
  T* dots;     ///< [n+1]
  T* part;     ///< [warps][32 kChunk]
  T* part_e;   ///< [warps]
  T* inverse;  ///< This and the next two are only for groups of words (groups.cuh).
  T* panels;
  T* squares;
  // Where rows are, in groups or not.
  T* near;        ///< Where the first rows are, if the others are in global memory.
  int near_rows;  ///< How many; 0 if all are in one place.

  __device__ T* row(int m) const {
    return (m < near_rows ? near : matrix) + static_cast<std::int64_t>(m) * ld;
  }
};

/// Fills the matrix from weights in sentence order. With `given` not 0, the only edge out of ROOT
/// is the one to that word, with weight 1.
template <typename T>
__device__ inline void gather(const double* weights, int n, int given, const Vectors& v,
                              Work<T>& w) {
  const Columns c(n);
  if (c.active()) {
    for (int m0 = 1; m0 <= n; m0 += c.width) {
      const int m = m0 + c.first;
      if (m > n) continue;
      const int word = v.order[m];
      for (int h = c.group; h <= n; h += c.groups) {
        double x = weights[static_cast<std::int64_t>(v.order[h]) * (n + 1) + word];
        if (given != 0 && h == 0) x = word == given ? 1.0 : 0.0;
        w.matrix[static_cast<std::int64_t>(m) * w.ld + h] = static_cast<T>(x);
      }
    }
  }
  __syncthreads();
}

/// kChunk * 32 columns at a time are in registers.
template <typename T, int kChunk>
__device__ inline void factor(int n, bool single, Work<T>& w) {
  const int lane = lane_id();
  for (int k = n; k >= 2; --k) {
    const T* own = w.matrix + static_cast<std::int64_t>(k) * w.ld;
    // Every warp computes the pivot itself, which is faster than one more barrier.
    T sum = 0;
    for (int h = lane; h < k; h += kWarp) {
      if (h > 0 || !single) sum += own[h];
    }
    sum = warp_sum(sum);
    const T inverse = T(1) / sum;
    if (threadIdx.x == 0) w.pivot[k] = sum;
    for (int h0 = 0; h0 < k; h0 += kWarp * kChunk) {
      T share[kChunk];
#pragma unroll
      for (int j = 0; j < kChunk; ++j) {
        const int h = h0 + j * kWarp + lane;
        share[j] = h < k ? own[h] * inverse : T(0);
      }
      for (int m = 1 + warp_id(); m < k; m += warp_count()) {
        T* row = w.matrix + static_cast<std::int64_t>(m) * w.ld;
        const T weight = row[k];
#pragma unroll
        for (int j = 0; j < kChunk; ++j) {
          const int h = h0 + j * kWarp + lane;
          if (h < k) row[h] = multiply_add(weight, share[j], row[h]);
        }
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) w.pivot[1] = w.matrix[w.ld];
  __syncthreads();
}

/// Z as a product of pivots, the bound that goes with it, and whether T's range was enough.
/// `bound_root` is what ROOT's edges sum up to (single-root).
template <typename T>
__device__ inline bool finish(int n, bool single, double bound_root, const Vectors& v,
                              const Work<T>& w, SentenceFacts& facts) {
  if (warp_id() == 0) {
    detail::ScaledProduct z;
    detail::ScaledProduct bound;
    for (int k = 1 + lane_id(); k <= n; k += kWarp) {
      z.multiply(static_cast<double>(w.pivot[k]));
      bound.multiply(fmax(1.0, v.sums[k]));
    }
    z.normalize();
    bound.normalize();
    double mantissa[2] = {z.mantissa(), bound.mantissa()};
    double exponent[2] = {z.exponent(), bound.exponent()};
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {  // Of 32 numbers in [1/2, 1): no underflow.
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        mantissa[i] *= __shfl_xor_sync(kAllLanes, mantissa[i], step);
        exponent[i] += __shfl_xor_sync(kAllLanes, exponent[i], step);
      }
    }
    if (lane_id() == 0) {
      int e = 0;
      facts.mantissa = frexp(mantissa[0], &e);
      facts.exponent = exponent[0] + e;
      facts.bits = log2(mantissa[1] * (single ? bound_root : 1.0) / mantissa[0]) +
                   (exponent[1] - exponent[0]);
    }
  }
  __syncthreads();
  const double log2_edges = 2.0 * (32 - __clz(n + 1));
  return facts.mantissa > 0 && isfinite(facts.mantissa) && facts.bits <= Range<T>::kSafeBits &&
         facts.flushed + facts.bits + log2_edges <= -Range<T>::kNegligibleBits;
}

}  // namespace taproot::cuda
