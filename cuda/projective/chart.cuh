// SPDX-License-Identifier: Apache-2.0
//
// The chart of src/projective/ by one thread block per sentence: a thread has a span, and a
// diagonal of the chart is done between two barriers. In double, the inside pass adds in the order
// of the host, so that a chart has the host's bits.
#pragma once

#include <cstdint>

#include "core/host_device.h"
#include "cuda/core/warp.cuh"
#include "projective/simply.h"
#include "query/divergence_entry.h"

namespace taproot::cuda {

/// How many entries a chart has: four squares.
inline constexpr int kChartSquares = 4;
/// Of these, the inside tables.
inline constexpr int kInsideSquares = 2;

/// The number of positions of a sentence of n words.
TAPROOT_HOST_DEVICE inline int chart_size(int n, bool single) { return single ? n : n + 1; }

/// Tables by diagonals, two to a square of size * size entries. The table of a direction to the
/// right has its diagonal d at the beginning of row d, and that of a direction to the left at the
/// end of row size - d, so that all sums over splits have a constant stride.
template <typename T>
struct FoldedChart {
  int size;    ///< The number of positions.
  int first;   ///< The node at position 0: 1 under the single-root rule, else 0.
  T* spans;    ///< kRight and kLeft. Row `size`, which is kLeft of single words, is row 0 of edges.
  T* edges;    ///< kRightEdge and kLeftEdge: spans + size * size.
  T* weights;  ///< Of edges, and of ROOT's in row 0; then kOutRight and kOutLeft.
  T* splits;   ///< kOutSplit.

  __device__ FoldedChart(int n, bool single, T* inside, T* outside)
      : size(chart_size(n, single)),
        first(single ? 1 : 0),
        spans(inside),
        edges(inside + square()),
        weights(outside),
        splits(outside + square()) {}

  TAPROOT_HOST_DEVICE std::int64_t square() const { return std::int64_t{size} * size; }
  __device__ bool single() const { return first == 1; }
  __device__ int right(int d, int i) const { return d * size + i; }
  __device__ int left(int d, int i) const { return (size - d) * size + d + i; }
  /// Where the weight of the edge between two nodes is; of ROOT's, by position.
  __device__ int weight_at(int h, int m) const {
    if (h < first) return m - first;
    return h < m ? right(m - h, h - first) : left(h - m, m - first);
  }
};

/// Sums of products. Other semirings have the same functions.
template <typename T>
struct SumProduct {
  static __device__ T zero() { return T(0); }
  static __device__ T one() { return T(1); }
  static __device__ T plus(const T& a, const T& b) { return a + b; }
  static __device__ T times(const T& a, const T& b) { return a * b; }
  /// a b + c
  static __device__ T accumulate(const T& a, const T& b, const T& c) { return a * b + c; }
};
template <>
__device__ inline double SumProduct<double>::accumulate(const double& a, const double& b,
                                                        const double& c) {
  return fma(a, b, c);
}
template <>
__device__ inline detail::Dual<double> SumProduct<detail::Dual<double>>::accumulate(
    const detail::Dual<double>& a, const detail::Dual<double>& b, const detail::Dual<double>& c) {
  return {fma(a.value, b.value, c.value), fma(a.value, b.slope, fma(a.slope, b.value, c.slope))};
}

/// Fills spans and edges from weights. Calls visit(split, right edge, left edge, right, left) with
/// the entries of every span of two or more positions.
template <typename Ops, typename T, typename Visit>
__device__ inline void inside(const FoldedChart<T>& c, Visit&& visit) {
  const int size = c.size;
  const int threads = static_cast<int>(blockDim.x);
  const int tid = static_cast<int>(threadIdx.x);
  for (int i = tid; i < size; i += threads) c.spans[i] = c.edges[i] = Ops::one();
  __syncthreads();
  for (int d = 1; d < size; ++d) {
    for (int i = tid; i < size - d; i += threads) {
      const T right_weight = c.weights[c.right(d, i)];
      const T left_weight = c.weights[c.left(d, i)];
      // As on the host: first the splits away from both ends, then those at the ends.
      T split = Ops::zero();
      T right = Ops::zero();
      T left = Ops::zero();
      const int down = 1 - size;
      const T* first = c.spans + c.right(1, i);
      const T* second = c.spans + c.left(d - 2, i + 2);
      if (d >= 3) {
        split = Ops::accumulate(*first, *second, split);
        first += size, second += size;
      }
      const T* edge = c.edges + c.right(2, i);
      const T* after_edge = c.spans + c.right(d - 2, i + 2);
      const T* before_edge = c.spans + c.left(2, i);
      const T* left_end = c.edges + c.left(d - 2, i + 2);
#pragma unroll 4
      for (int e = d - 3; e > 0; --e) {
        split = Ops::accumulate(*first, *second, split);
        right = Ops::accumulate(*edge, *after_edge, right);
        left = Ops::accumulate(*before_edge, *left_end, left);
        first += size, second += size, edge += size;
        after_edge += down, before_edge += down, left_end += size;
      }
      if (d >= 2) split = Ops::plus(split, c.spans[c.left(d - 1, i + 1)]);
      split = Ops::accumulate(c.spans[c.right(d - 1, i)], Ops::one(), split);
      const T right_edge = Ops::times(split, right_weight);
      const T left_edge = Ops::times(split, left_weight);
      if (d >= 2) {
        right = Ops::accumulate(c.edges[c.right(1, i)], c.spans[c.right(d - 1, i + 1)], right);
        left = Ops::accumulate(c.spans[c.left(1, i)], c.edges[c.left(d - 1, i + 1)], left);
      }
      if (d >= 3) {
        const int last = i + d - 1;
        right = Ops::accumulate(c.edges[c.right(d - 1, i)], c.spans[c.right(1, last)], right);
        left = Ops::accumulate(c.spans[c.left(d - 1, i)], c.edges[c.left(1, last)], left);
      }
      right = Ops::plus(right, right_edge);
      left = Ops::plus(left, left_edge);
      c.edges[c.right(d, i)] = right_edge;
      c.edges[c.left(d, i)] = left_edge;
      c.spans[c.right(d, i)] = right;
      c.spans[c.left(d, i)] = left;
      visit(split, right_edge, left_edge, right, left);
    }
    __syncthreads();
  }
}

/// The part of Z that has position m as its root, under the single-root rule.
template <typename Ops, typename T>
__device__ inline T root_term(const FoldedChart<T>& c, int m) {
  const T left = m == 0 ? Ops::one() : c.spans[c.left(m, 0)];
  return Ops::times(Ops::times(c.weights[m], left), c.spans[c.right(c.size - 1 - m, m)]);
}

/// Z, in the order of the host.
template <typename Ops, typename T>
__device__ inline T total(const FoldedChart<T>& c) {
  if (!c.single()) return c.spans[c.right(c.size - 1, 0)];
  T sum = Ops::zero();
  for (int m = 0; m < c.size; ++m) sum = Ops::plus(sum, root_term<Ops>(c, m));
  return sum;
}

/// The outside pass (see outside_simply()). It overwrites the weights, except ROOT's, and calls
/// visit(d, i, right, left) with the derivatives with respect to the edges' entries.
template <typename Ops, typename T, typename Visit>
__device__ inline void outside(const FoldedChart<T>& c, const T& seed, Visit&& visit) {
  const int size = c.size;
  const int last = size - 1;
  const int threads = static_cast<int>(blockDim.x);
  for (int d = last; d >= 1; --d) {
    for (int i = static_cast<int>(threadIdx.x); i < size - d; i += threads) {
      const T right_weight = c.weights[c.right(d, i)];
      const T left_weight = c.weights[c.left(d, i)];
      T right = Ops::zero();
      T left = Ops::zero();
      T right_edge = Ops::zero();
      T left_edge = Ops::zero();
      if (c.single()) {
        if (i + d == last) {
          const T other = i == 0 ? Ops::one() : c.spans[c.left(i, 0)];
          right = Ops::times(Ops::times(seed, c.weights[i]), other);
        }
        if (i == 0) {
          left = Ops::times(Ops::times(seed, c.weights[d]), c.spans[c.right(last - d, d)]);
        }
      } else if (d == last) {
        right = seed;
      }
      {  // Longer spans with the same first position.
        const int back = 1 - size;
        const T* split = c.splits + c.right(d + 1, i);
        const T* outer_right = c.weights + c.right(d + 1, i);
        const T* outer_left = c.weights + c.left(d + 1, i);
        const T* other_left = c.spans + c.left(0, i + d + 1);
        const T* other_edge = c.edges + c.left(1, i + d);
        const T* other_right = c.spans + c.right(1, i + d);
#pragma unroll 2
        for (int t = last - d - i; t > 0; --t) {
          right = Ops::accumulate(*split, *other_left, right);
          left = Ops::accumulate(*outer_left, *other_edge, left);
          right_edge = Ops::accumulate(*outer_right, *other_right, right_edge);
          split += size, outer_right += size, outer_left += back;
          other_left += back, other_edge += back, other_right += size;
        }
      }
      {  // Longer spans with the same last position.
        const int up = size - 1;
        const T* split = c.splits + c.right(d + 1, i - 1);
        const T* outer_right = c.weights + c.right(d + 1, i - 1);
        const T* outer_left = c.weights + c.left(d + 1, i - 1);
        const T* other_right = c.spans + i - 1;
        const T* other_edge = c.edges + c.right(1, i - 1);
        const T* other_left = c.spans + c.left(1, i - 1);
#pragma unroll 2
        for (int e = i; e > 0; --e) {
          left = Ops::accumulate(*split, *other_right, left);
          right = Ops::accumulate(*outer_right, *other_edge, right);
          left_edge = Ops::accumulate(*outer_left, *other_left, left_edge);
          split += up, outer_right += up, outer_left -= size;
          other_right += up, other_edge += up, other_left -= size;
        }
      }
      right_edge = Ops::plus(right_edge, right);
      left_edge = Ops::plus(left_edge, left);
      c.weights[c.right(d, i)] = right;
      c.weights[c.left(d, i)] = left;
      c.splits[c.right(d, i)] =
          Ops::accumulate(right_edge, right_weight, Ops::times(left_edge, left_weight));
      visit(d, i, right_edge, left_edge);
    }
    __syncthreads();
  }
}

}  // namespace taproot::cuda
