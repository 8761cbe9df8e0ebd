// SPDX-License-Identifier: Apache-2.0
//
// From scores to the inside tables of a chart: what src/projective/fill_chart.cc does, by one
// thread block per sentence.
#pragma once

#include "cuda/projective/chart.cuh"
#include "cuda/scores/prepare.cuh"
#include "scores/wide_weight.h"

namespace taproot::cuda::projective {

using DoubleOps = SumProduct<double>;

__device__ inline double power_of_two(double e) {
  return detail::double_of_bits(static_cast<std::uint64_t>(static_cast<std::int64_t>(e) + 1023)
                                << 52);
}

/// visit(h, m) for all edges, by the threads of the block.
template <typename Visit>
__device__ inline void for_edges(int n, Visit&& visit) {
  for (int h = warp_id(); h <= n; h += warp_count()) {
    for (int m = 1 + lane_id(); m <= n; m += kWarp) {
      if (h != m) visit(h, m);
    }
  }
}

/// Multi-root, ROOT is a position, too, and no edge leads to it.
template <typename T>
__device__ inline void clear_edges_to_root(const FoldedChart<T>& c, const T& zero) {
  if (c.single()) return;
  const int threads = static_cast<int>(blockDim.x);
  for (int d = 1 + static_cast<int>(threadIdx.x); d < c.size; d += threads) {
    c.weights[c.left(d, 0)] = zero;
  }
}

/// Scales every column, and single-root the ROOT row, by a power of two, so that it sums to less
/// than 1: v.keys takes the exponents that are added to the scales. `weights` is [n+1][n+1].
__device__ inline void scale_columns(int n, bool single, const double* weights, Vectors& v,
                                     SentenceFacts& facts) {
  constexpr double kLeastSum = 0x1p-1000;
  const auto exponent_of = [](double sum) {  // e, for a sum in [2^(e-1), 2^e).
    if (!(sum >= kLeastSum)) return 0.0;
    return static_cast<double>(static_cast<std::int64_t>(detail::bits_of_double(sum) >> 52) - 1022);
  };
  const int threads = static_cast<int>(blockDim.x);
  for (int m = 1 + static_cast<int>(threadIdx.x); m <= n; m += threads) {
    v.keys[m] = exponent_of(v.sums[m] + (single ? 0.0 : weights[m]));
    v.scale[m] += v.keys[m];
  }
  __syncthreads();
  if (warp_id() == 0) {
    double taken = 0;
    double root_sum = 0;
    for (int m = 1 + lane_id(); m <= n; m += kWarp) {
      taken += v.keys[m];
      root_sum += weights[m] * power_of_two(-v.keys[m]);
    }
    taken = warp_sum(taken);
    root_sum = warp_sum(root_sum);
    if (lane_id() == 0) {
      v.keys[0] = single ? exponent_of(root_sum) : 0.0;
      facts.root_scale += v.keys[0];
      facts.total_scale += taken + v.keys[0];
    }
  }
  __syncthreads();
}

/// The power of two per edge that would bring the chart near 1: from Z or, where that is outside
/// the range of double, from the longest spans that are not. For all threads.
__device__ inline double correction(const FoldedChart<double>& c, double z, int n, double* reduce) {
  constexpr double kReliable = 0x1p-900;
  const auto is_reliable = [=](double x) { return x >= kReliable && x <= 1 / kReliable; };
  if (is_reliable(z)) return -log2(z) / n;
  const int threads = static_cast<int>(blockDim.x);
  for (int d = c.size - 1; d >= 1; --d) {
    double top = 0;
    for (int i = static_cast<int>(threadIdx.x); i < c.size - d; i += threads) {
      top = fmax(top, fmax(c.spans[c.right(d, i)], c.spans[c.left(d, i)]));
    }
    __syncthreads();
    reduce[threadIdx.x] = top;
    __syncthreads();
    for (int i = 0; i < threads; ++i) top = fmax(top, reduce[i]);
    if (is_reliable(top)) return -log2(top) / d;
  }
  return 0;
}

__device__ inline bool is_within(double x) {
  return x == 0 || (x >= detail::kSafeLow && x <= detail::kSafeHigh);
}

/// Fills the inside tables, and all facts and scales. False if double's range is not enough, which
/// it is not either if there is no tree. The scores must have been checked, and v.scale chosen.
__device__ inline bool fill_chart(const EdgeReader& scores, int n, bool single,
                                  const FoldedChart<double>& c, Vectors& v, SentenceFacts& facts) {
  constexpr int kTries = 3;   // How often a common factor is chosen anew before double is given up.
  double* weights = c.spans;  // Until the inside pass.
  fill_weights<double>(scores, n, weights, v, facts);
  scale_columns(n, single, weights, v, facts);
  for_edges(n, [&](int h, int m) {
    const double exponent = v.keys[m] + (h == 0 ? v.keys[0] : 0.0);
    c.weights[c.weight_at(h, m)] =
        weights[static_cast<std::int64_t>(h) * (n + 1) + m] * power_of_two(-exponent);
  });
  clear_edges_to_root(c, 0.0);
  __syncthreads();
  const double log2_edges = 2.0 * (32 - __clz(n + 1));
  double common = 0;  // All weights are multiplied by 2^common.
  bool within = true;
  for (int attempt = 0; attempt <= kTries; ++attempt) {
    inside<DoubleOps>(
        c, [&](double split, double right_edge, double left_edge, double right, double left) {
          within = within &&
                   (common == 0 || (is_within(split) && is_within(right_edge) &&
                                    is_within(left_edge) && is_within(right) && is_within(left)));
        });
    const double z = total<DoubleOps>(c);
    if (z > 0 && isfinite(z)) {
      const double bits = common * n - log2(z);
      const bool negligible = facts.flushed + bits + log2_edges <= -detail::kNegligibleBits;
      const bool fits = common == 0 ? bits <= detail::kSafeBits
                                    : __syncthreads_and(within && is_within(z) ? 1 : 0) != 0;
      if (negligible && fits) {
        __syncthreads();
        if (threadIdx.x == 0) {
          int exponent = 0;
          facts.mantissa = frexp(z, &exponent);
          facts.exponent = exponent;
          facts.total_scale -= common * n;
        }
        const int threads = static_cast<int>(blockDim.x);
        for (int m = 1 + static_cast<int>(threadIdx.x); m <= n; m += threads) v.scale[m] -= common;
        __syncthreads();
        return true;
      }
    }
    const double change = rint(correction(c, z, n, v.reduce));
    if (change == 0 || attempt == kTries) break;
    common += change;
    within = true;
    __syncthreads();
    for_edges(n, [&](int h, int m) {
      double& weight = c.weights[c.weight_at(h, m)];
      weight *= power_of_two(change);
      within = within && is_within(weight);
    });
    __syncthreads();
  }
  return false;
}

/// Loads weight(h, m), in the semiring of Ops, into the chart.
template <typename Ops, typename T, typename Weight>
__device__ inline void load_weights(int n, const FoldedChart<T>& c, Weight&& weight) {
  for_edges(n, [&](int h, int m) { c.weights[c.weight_at(h, m)] = weight(h, m); });
  clear_edges_to_root(c, Ops::zero());
  __syncthreads();
}

/// exp(score) 2^-scale, with the scales that an elimination left: in double, or over Wide.
struct ScaledWeight {
  EdgeReader scores;
  const double* scale;  ///< Of the columns; at 0 that of the ROOT row.

  __device__ double of(int h, int m) const { return scale[m] + (h == 0 ? scale[0] : 0.0); }
  __device__ double operator()(int h, int m) const {
    double flushed = kLowest;
    return scaled_weight(scores(h, m), of(h, m), Range<double>::kFlushExponent, flushed);
  }
  __device__ detail::Wide wide(int h, int m) const {
    return detail::wide_weight(scores(h, m), of(h, m));
  }
};

}  // namespace taproot::cuda::projective
