// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/core/warp.cuh"

namespace taproot::cuda {

/// The contracted law of src/sample/contraction.h by one warp: words decided are merged into where
/// they lead, all undecided ones but i are eliminated, and q[h], the probability that a walk from h
/// meets the sink before i, gives the law of i's head. No subtraction. Leaves p[0..n] at the
/// beginning of `scratch` (exact_scratch() doubles), all 0 if the prefix is impossible in double.
static __device__ __noinline__ void contracted_law(const double* weights, int ld, int n, int i,
                                                   int sink, const std::uint16_t* leads,
                                                   double* scratch) {
  const int lane = lane_id();
  const int side = n + 1;
  double* p = scratch;
  double* q = p + side;
  double* to_sink = q + side;
  double* pivot = to_sink + side;
  double* x = pivot + side;  // [h][m]: lanes go along m.
  for (int m = i + 1 + lane; m <= n; m += kWarp) {
    if (m == sink) continue;
    for (int h = i; h <= n; ++h) x[h * side + m] = 0;
    double all = 0;
    const double* row = weights + static_cast<std::int64_t>(m) * ld;
    for (int h = 0; h <= n; ++h) {
      const int end = leads[h];
      if (end == sink) {
        all += row[h];
      } else if (end != m) {  // A self-loop is dropped.
        x[end * side + m] += row[h];
      }
    }
    to_sink[m] = all;
  }
  __syncwarp();
  for (int k = n; k > i; --k) {
    if (k == sink) continue;
    double all = 0;
    for (int h = i + lane; h < k; h += kWarp) all += x[h * side + k];
    all = warp_sum(all) + to_sink[k];
    const double inverse = 1 / all;
    if (lane == 0) pivot[k] = all;
    for (int m = i + 1 + lane; m < k; m += kWarp) {
      if (m == sink) continue;
      const double share = x[k * side + m] * inverse;
      to_sink[m] = fma(share, to_sink[k], to_sink[m]);
      for (int h = i; h < k; ++h) x[h * side + m] = fma(share, x[h * side + k], x[h * side + m]);
    }
    __syncwarp();
  }
  if (lane == 0) q[i] = 0;
  __syncwarp();
  for (int k = i + 1; k <= n; ++k) {
    double all = 0;
    if (k != sink) {
      for (int h = i + 1 + lane; h < k; h += kWarp) all = fma(x[h * side + k], q[h], all);
      all = (warp_sum(all) + to_sink[k]) / pivot[k];
    }
    if (lane == 0) q[k] = all;
    __syncwarp();
  }
  if (lane == 0) q[sink] = 1;
  __syncwarp();
  double total = 0;
  for (int h = lane; h <= n; h += kWarp) {
    const int end = leads[h];
    const double w = end == i ? 0.0 : weights[static_cast<std::int64_t>(i) * ld + h] * q[end];
    p[h] = w;
    total += w;
  }
  total = warp_sum(total);
  const double inverse = total > 0 ? 1 / total : 0.0;
  for (int h = lane; h <= n; h += kWarp) p[h] *= inverse;
  __syncwarp();
}

}  // namespace taproot::cuda
