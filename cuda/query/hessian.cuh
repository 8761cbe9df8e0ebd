// SPDX-License-Identifier: Apache-2.0
//
// The formulas are in src/reverse/tangent.h: both passes differentiated as they stand, over double
// or over Wide. One thread block per sentence, one warp per row, matrices in global memory.
#pragma once

#include <cmath>

#include "core/probability.h"
#include "core/wide.h"
#include "cuda/core/warp.cuh"
#include "cuda/query/hessian.h"
#include "cuda/scores/batch.h"
#include "cuda/scores/fill.cuh"
#include "cuda/scores/support.cuh"

namespace taproot::cuda {

/// One sentence's part of everything. weight(h, m) is a scaled weight, by word.
template <typename T, typename Weight>
struct HessianSentence {
  int n;
  int first;  ///< Single-root, ROOT stays out of the pivots.
  int ld;
  Weight weight;
  const T* factors;  ///< By position, row = modifier, like the other matrices of T.
  const T* pivots;
  const std::int32_t* order;
  const std::int32_t* position;
  const T* gradient;
  double* values;  ///< [h][m], by word.
  T* tangent;
  T* gradient_tangent;

  __device__ std::int64_t at(int row, int column) const {
    return static_cast<std::int64_t>(row) * ld + column;
  }
};

/// Scratch memory, n + 1 entries each but for the sums.
template <typename T>
struct HessianRows {
  T* share;
  T* dshare;
  T* dpivot;
  T* out;    ///< The column of the factors, and
  T* moved;  ///< the column of their tangents, of the step.
  T* part;   ///< [parts][n+1]: one for each of the warps that share the rows of a step.
  int parts;
  T* per_warp;
};

/// The result is the same for all threads. Two barriers.
template <typename T>
__device__ inline T block_sum(T x, T* per_warp) {
  x = warp_sum(x);
  __syncthreads();
  if (lane_id() == 0) per_warp[warp_id()] = x;
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < warp_count(); ++i) sum += per_warp[i];
  return sum;
}

__device__ inline double block_max(double x, double* per_warp) {
  x = warp_max(x);
  __syncthreads();
  if (lane_id() == 0) per_warp[warp_id()] = x;
  __syncthreads();
  double top = per_warp[0];
  for (int i = 1; i < warp_count(); ++i) top = fmax(top, per_warp[i]);
  return top;
}

/// x with few digits, so that subtracting it from doubles of its size is exact.
__device__ inline double shortened(double x) { return static_cast<double>(static_cast<float>(x)); }

/// Sets values that are not finite to 0 at edges that no tree has. Returns the largest magnitude,
/// or NaN if other values are not finite.
template <typename T, typename Weight>
__device__ double largest_supported(const EdgeReader& scores, const HessianSentence<T, Weight>& s,
                                    double* per_warp, std::uint8_t* marks) {
  const int tid = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  Support support(scores, s.n, s.first == 1, marks);
  support.find_last_words();
  double largest = 0;
  double poison = 0;
  for (int m = 1; m <= s.n; ++m) {
    bool any = false;
    for (int h = tid; h <= s.n; h += threads) any = any || !isfinite(s.values[s.at(h, m)]);
    if (__syncthreads_or(any ? 1 : 0) != 0) support.choose(m);
    for (int h = tid; h <= s.n; h += threads) {
      double& v = s.values[s.at(h, m)];
      if (!isfinite(v) && !support.supports(h, m)) v = 0;
      poison += v * 0;
      largest = fmax(largest, fabs(v));
    }
  }
  return block_max(largest, per_warp) + block_sum(poison, per_warp);
}

/// Loads the direction where the edge is allowed, 0 elsewhere, scaled to at most 1 by a power of
/// two, and subtracts what all heads of a word have in common (single-root: also all ROOT edges). H
/// times that is 0, but it would cost digits; see center() in src/query/hessian.cc. Returns the
/// scale, or NaN if a value that counts is not finite. `weights` [n+1][n+1] are in double, and
/// `marks` is shared memory for a Support.
template <typename T, typename Weight>
__device__ double load_values(const EdgeReader& scores, const EdgeReader& direction,
                              const HessianSentence<T, Weight>& s, const double* weights,
                              double* per_warp, std::uint8_t* marks) {
  const int tid = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  double largest = 0;
  double poison = 0;
  for (int h = warp_id(); h <= s.n; h += warp_count()) {
    for (int m = lane_id(); m <= s.n; m += kWarp) {
      const bool edge = m > 0 && h != m && scores(h, m) > -HUGE_VAL;
      const double v = edge ? direction(h, m) : 0.0;
      poison += v * 0;
      largest = fmax(largest, fabs(v));
      s.values[s.at(h, m)] = v;
    }
  }
  largest = block_max(largest, per_warp) + block_sum(poison, per_warp);
  if (!(largest < HUGE_VAL)) largest = largest_supported(scores, s, per_warp, marks);
  if (!(largest < HUGE_VAL)) return NAN;
  if (largest == 0) return 0;
  const int exponent = max(ilogb(largest), -1000);  // A power of two whose inverse is one, too.
  const double down = scalbn(1.0, -exponent);
  // Means by weight, so that values at negligible edges do not displace the others.
  for (int m = 1 + tid; m <= s.n; m += threads) {
    double sum = 0;
    double mass = 0;
#pragma unroll 4
    for (int h = s.first; h <= s.n; ++h) {
      const double w = h == m ? 0.0 : weights[static_cast<std::int64_t>(h) * (s.n + 1) + m];
      sum += w * s.values[s.at(h, m)] * down;
      mass += w;
    }
    // A word without word heads has ROOT alone.
    const double mean = mass > 0 ? shortened(sum / mass) : s.values[s.at(0, m)] * down;
    for (int h = 0; h <= s.n; ++h) s.values[s.at(h, m)] = s.values[s.at(h, m)] * down - mean;
  }
  __syncthreads();
  if (s.first == 1) {
    double mean = 0;
    for (int k = 1 + tid; k <= s.n; k += threads) {
      const int m = s.order[k];
      const double p = detail::to_double(s.weight(0, m) * s.gradient[s.at(k, 0)]);
      mean += p * s.values[s.at(0, m)];
    }
    mean = shortened(block_sum(mean, per_warp));
    for (int m = 1 + tid; m <= s.n; m += threads) s.values[s.at(0, m)] -= mean;
  }
  __syncthreads();
  return scalbn(1.0, exponent);
}

/// How many rows a warp has in flight, since matrices may be in global memory.
inline constexpr int kRowsAtOnce = 4;

/// visit(i, row) for row = first + i * step below `end`, i < kRowsAtOnce.
template <typename Visit>
__device__ inline void for_rows(int first, int step, int end, Visit&& visit) {
#pragma unroll
  for (int i = 0; i < kRowsAtOnce; ++i) {
    const int row = first + i * step;
    if (row < end) visit(i, row);
  }
}

/// dA of all factors. Row k becomes dshare_k once its word is eliminated.
template <typename T, typename Weight>
__device__ void eliminate_tangent(const HessianSentence<T, Weight>& s, const HessianRows<T>& r) {
  const int threads = static_cast<int>(blockDim.x);
  T* const share = r.share;
  T* const dshare = r.dshare;
  for (int k = s.n; k >= 2; --k) {
    T own = 0;
    for (int h = s.first + static_cast<int>(threadIdx.x); h < k; h += threads) {
      own += s.tangent[s.at(k, h)];
    }
    const T all = block_sum(own, r.per_warp);
    const T pivot = s.pivots[k];
    for (int h = static_cast<int>(threadIdx.x); h < k; h += threads) {
      share[h] = s.factors[s.at(k, h)] / pivot;
      dshare[h] = (s.tangent[s.at(k, h)] - share[h] * all) / pivot;
      s.tangent[s.at(k, h)] = dshare[h];
    }
    if (threadIdx.x == 0) r.dpivot[k] = all;
    __syncthreads();
    for (int first = 1 + warp_id(); first < k; first += kRowsAtOnce * warp_count()) {
      T down[kRowsAtOnce];
      T out[kRowsAtOnce];
      for_rows(first, warp_count(), k, [&](int i, int m) {
        down[i] = s.tangent[s.at(m, k)];
        out[i] = s.factors[s.at(m, k)];
      });
      for (int h = lane_id(); h < k; h += kWarp) {
        for_rows(first, warp_count(), k, [&](int i, int m) {
          s.tangent[s.at(m, h)] += down[i] * share[h] + out[i] * dshare[h];
        });
      }
    }
    __syncthreads();
  }
}

/// dG; the diagonals of G and dG are 0.
template <typename T, typename Weight>
__device__ void gradient_tangent(const HessianSentence<T, Weight>& s, const HessianRows<T>& r) {
  const int threads = static_cast<int>(blockDim.x);
  T* const share = r.share;
  T* const dshare = r.dshare;
  T* const part = r.part;
  for (int m = warp_id(); m <= s.n; m += warp_count()) {
    for (int h = lane_id(); h <= s.n; h += kWarp) s.gradient_tangent[s.at(m, h)] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const T pivot = s.pivots[1];
    s.gradient_tangent[s.at(1, 0)] = -(s.tangent[s.at(1, 0)] / pivot / pivot);
  }
  for (int k = 2; k <= s.n; ++k) {
    const T pivot = s.pivots[k];
    __syncthreads();
    for (int h = static_cast<int>(threadIdx.x); h < k; h += threads) {
      share[h] = s.factors[s.at(k, h)] / pivot;
      dshare[h] = s.tangent[s.at(k, h)];
      r.out[h] = s.factors[s.at(h, k)];
      r.moved[h] = s.tangent[s.at(h, k)];
      for (int i = 0; i < r.parts; ++i) part[i * (s.n + 1) + h] = 0;
    }
    __syncthreads();
    if (warp_id() < r.parts) {
      T* dgu = part + warp_id() * (s.n + 1);
      for (int first = 1 + warp_id(); first < k; first += kRowsAtOnce * r.parts) {
        T dot[kRowsAtOnce] = {};
        for (int h = lane_id(); h < k; h += kWarp) {
          T g[kRowsAtOnce];
          for_rows(first, r.parts, k,
                   [&](int i, int m) { g[i] = h == m ? T(0) : s.gradient[s.at(m, h)]; });
          for_rows(first, r.parts, k, [&](int i, int m) {
            const T dg = h == m ? T(0) : s.gradient_tangent[s.at(m, h)];
            dgu[h] += dg * r.out[m] + g[i] * r.moved[m];
            dot[i] += dshare[h] * g[i] + share[h] * dg;
          });
        }
        for_rows(first, r.parts, k, [&](int i, int m) {
          const T sum = warp_sum(dot[i]);
          if (lane_id() == 0) s.gradient_tangent[s.at(m, k)] = sum;
        });
      }
    }
    __syncthreads();
    T e = 0;
    for (int h = static_cast<int>(threadIdx.x); h < k; h += threads) {
      T dgu = 0;
      for (int i = 0; i < r.parts; ++i) dgu += part[i * (s.n + 1) + h];
      part[h] = dgu;
      e += dshare[h] * (s.gradient[s.at(k, h)] * pivot) + share[h] * dgu;
    }
    e = block_sum(e, r.per_warp);
    for (int h = static_cast<int>(threadIdx.x); h < k; h += threads) {
      const T rest = part[h] - s.gradient[s.at(k, h)] * r.dpivot[k];
      s.gradient_tangent[s.at(k, h)] = (h < s.first ? rest : rest - e) / pivot;
    }
  }
  __syncthreads();
}

/// H v of the whole sentence, from the values that load_values() has left, whose scale is > 0. The
/// second pass may have its matrices elsewhere: move() brings them there.
template <typename T, typename Weight, typename Move>
__device__ void write_hessian(const HessianSentence<T, Weight>& first,
                              const HessianSentence<T, Weight>& s, const HessianRows<T>& r,
                              double scale, const EdgeWriter& target, Move&& move) {
  for (int h = warp_id(); h <= s.n; h += warp_count()) {
    for (int m = 1 + lane_id(); m <= s.n; m += kWarp) {
      first.tangent[s.at(s.position[m], s.position[h])] =
          h == m ? T(0) : s.weight(h, m) * T(s.values[s.at(h, m)]);
    }
  }
  __syncthreads();
  eliminate_tangent(first, r);
  move();
  gradient_tangent(s, r);
  for (int p = 1 + warp_id(); p <= s.n; p += warp_count()) {
    const int m = s.order[p];
    for (int q = lane_id(); q <= s.n; q += kWarp) {
      const int h = s.order[q];
      double product = 0;
      if (p != q) {
        const T w = s.weight(h, m);
        const double p_edge =
            detail::nearest_probability(detail::to_double(w * s.gradient[s.at(p, q)]));
        const double moved = detail::to_double(w * s.gradient_tangent[s.at(p, q)]);
        product = scale * (p_edge * s.values[s.at(h, m)] + moved);
      }
      target.write(h, m, product);
    }
  }
  for (int h = static_cast<int>(threadIdx.x); h <= s.n; h += static_cast<int>(blockDim.x)) {
    target.write(h, 0, 0.0);
  }
}

/// Where nothing moves, or the direction is not finite.
__device__ inline void fill_hessian(int n, double value, const EdgeWriter& target) {
  for (int h = warp_id(); h <= n; h += warp_count()) {
    for (int m = lane_id(); m <= n; m += kWarp) target.write(h, m, value);
  }
}

/// The answers of a sentence without a tree, and 0 beyond a sentence's length. By one block.
__device__ inline void complete_hessian(const HessianArgs& a, int b, std::int32_t status) {
  const int n = a.batch.n(b);
  const bool no_tree = status == kNoTree;
  const bool ok = status == kOk || status == kCudaOutOfRange;
  if (ok || no_tree) fill_edges(a.out, a.batch.max_n, b, n, true, 0);
  if (!ok) fill_failure(a.out, a.batch.max_n, b, n, no_tree);
}

}  // namespace taproot::cuda
