// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/host_device.h"
#include "cuda/core/warp.cuh"

namespace taproot::cuda {

/// How many doubles a contraction takes when i is decided next.
TAPROOT_HOST_DEVICE inline std::int64_t exact_scratch(int n, int i) {
  const std::int64_t left = n - i + 1;
  return n + 1 + 3 * left + left * (left | 1);
}

/// The contracted law of src/sample/conditionals/contraction.h by one warp. Decided words are
/// merged into the words that they lead to, all undecided words but i are eliminated, and q[h], the
/// probability that a walk from h meets the sink before i, gives the law of i's head. Nothing is
/// subtracted. `weights` has a row for each modifier, `by_head` one for each head. The law is left
/// in the first n + 1 entries of `scratch` (exact_scratch() doubles); it is all 0 if the prefix is
/// impossible in double.
///
/// Node i + m is number m here; lanes go along modifiers.
static __device__ __noinline__ void contracted_law(const double* __restrict__ weights,
                                                   const double* __restrict__ by_head, int ld,
                                                   int n, int i, int sink,
                                                   const std::uint16_t* __restrict__ leads,
                                                   double* __restrict__ scratch) {
  constexpr int kBatch = 8;  // Loads in flight at once.
  constexpr int kMerged = 16;
  const int lane = lane_id();
  const int left = n - i + 1;
  const int side = left | 1;
  double* p = scratch;
  double* q = p + n + 1;
  double* to_sink = q + left;
  double* inverse_pivot = to_sink + left;
  double* x = inverse_pivot + left;  // [h][m]
  for (int m = 1 + lane; m < left; m += kWarp) {
    for (int h = 0; h < left; ++h) x[h * side + m] = 0;
    to_sink[m] = 0;
    if (i + m == sink) continue;  // The sink has no head.
    double all = 0;
    const double* column = by_head + i + m;
    for (int h0 = 0; h0 <= n; h0 += kMerged) {
      int end[kMerged];
      double w[kMerged];
#pragma unroll
      for (int j = 0; j < kMerged; ++j) {
        const int h = min(h0 + j, n);
        end[j] = leads[h];
        w[j] = h0 + j <= n ? column[static_cast<std::int64_t>(h) * ld] : 0.0;
      }
#pragma unroll
      for (int j = 0; j < kMerged; ++j) {
        if (end[j] == sink) {
          all += w[j];
        } else if (end[j] != i + m) {  // A self-loop is dropped.
          x[(end[j] - i) * side + m] += w[j];
        }
      }
    }
    to_sink[m] = all;
  }
  __syncwarp();
  bool known = false;  // Whether `next`, the next pivot, was summed while its column was updated.
  double next = 0;
  for (int k = left - 1; k > 0; --k) {
    if (i + k == sink) {
      known = false;
      continue;
    }
    double all = next;
    if (!known) {
      all = 0;
      for (int h = lane; h < k; h += kWarp) all += x[h * side + k];
      all = warp_sum(all) + to_sink[k];
    }
    const double inverse = 1 / all;
    const double own_to_sink = to_sink[k];
    if (lane == 0) inverse_pivot[k] = inverse;
    next = 0;
    for (int m0 = 1; m0 < k; m0 += kWarp) {
      const int m = m0 + lane;
      double sum = 0;
      if (m < k) {
        const double share = x[k * side + m] * inverse;
        const double ends = fma(share, own_to_sink, to_sink[m]);
        to_sink[m] = ends;
        for (int h0 = 0; h0 < k; h0 += kBatch) {
          double into[kBatch];
          double value[kBatch];
#pragma unroll
          for (int j = 0; j < kBatch; ++j) {
            const int h = min(h0 + j, k - 1);
            into[j] = x[h * side + k];
            value[j] = x[h * side + m];
          }
#pragma unroll
          for (int j = 0; j < kBatch; ++j) {
            const int h = h0 + j;
            if (h >= k) break;
            value[j] = fma(share, into[j], value[j]);
            x[h * side + m] = value[j];
            sum += h < m ? value[j] : 0.0;
          }
        }
        sum += ends;
      }
      if (k - 1 >= m0 && k - 1 < m0 + kWarp) next = __shfl_sync(kAllLanes, sum, k - 1 - m0);
    }
    known = true;
    __syncwarp();
  }
  // Forward substitution: a known q adds its share to the sums in to_sink of all words after it.
  if (lane == 0) q[0] = 0;
  for (int k = 1; k < left; ++k) {
    const double own = i + k == sink ? 0.0 : to_sink[k] * inverse_pivot[k];
    __syncwarp();
    if (lane == 0) q[k] = own;
    for (int m = k + 1 + lane; m < left; m += kWarp) {
      to_sink[m] = fma(x[k * side + m], own, to_sink[m]);
    }
    __syncwarp();
  }
  double total = 0;
  for (int h = lane; h <= n; h += kWarp) {
    const int end = leads[h];
    const double reaches = end == sink ? 1.0 : end == i ? 0.0 : q[end - i];
    const double w = weights[static_cast<std::int64_t>(i) * ld + h] * reaches;
    p[h] = w;
    total += w;
  }
  total = warp_sum(total);
  const double inverse = total > 0 ? 1 / total : 0.0;
  for (int h = lane; h <= n; h += kWarp) p[h] *= inverse;
  __syncwarp();
}

}  // namespace taproot::cuda
