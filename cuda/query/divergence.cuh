// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/probability.h"
#include "cuda/core/warp.cuh"
#include "cuda/query/expectation.h"
#include "cuda/query/inference.cuh"

namespace taproot::cuda {

__device__ inline void write_divergence(const DivergenceArgs& args, int b, double x) {
  const bool relative = args.kind == detail::Divergence::kRelativeEntropy;
  args.out[b] = relative ? detail::non_negative(x) : x;
}

/// Whether both sentences are ok. NaN if they are, but differ in length.
__device__ inline bool are_comparable(const DivergenceArgs& args, int b) {
  if (args.p_summary.outcomes[b].status != kOk || args.q_summary.outcomes[b].status != kOk) {
    return false;
  }
  if (args.p.n(b) == args.q.n(b)) return true;
  if (threadIdx.x == 0) args.out[b] = NAN;
  return false;
}

/// Whether q forbids an edge that p does not. The result is the same for all threads.
__device__ inline bool forbids_more(const EdgeReader& p, const EdgeReader& q, int n) {
  bool any = false;
  for (int h = warp_id(); h <= n; h += warp_count()) {
    for (int m = 1 + lane_id(); m <= n; m += kWarp) {
      any |= h != m && p(h, m) != -HUGE_VAL && q(h, m) == -HUGE_VAL;
    }
  }
  return __syncthreads_or(any ? 1 : 0) != 0;
}

/// The formulas of src/query/divergence.cc for a sentence whose marginals are in double.
__device__ inline void compare_in_double(const DivergenceArgs& args, int b, double* per_warp) {
  const int n = args.p.n(b);
  const EdgeReader p_scores(args.p, b, n);
  const EdgeReader q_scores(args.q, b, n);
  const double* p_scale = args.p_summary.scale + b * args.p.nodes();
  const double* q_scale = args.q_summary.scale + b * args.q.nodes();
  const EdgeReader p(args.marginals, b, n);
  double mean = 0;
  for (int h = warp_id(); h <= n; h += warp_count()) {
    double sum = 0;  // Row by row: fewer roundings pile up.
    for (int m = 1 + lane_id(); m <= n; m += kWarp) {
      const double x = p(h, m);
      const double s = q_scores(h, m);
      if (!(x > 0) || s == -HUGE_VAL) continue;
      const double of_q = detail::minus_k_ln2(s, q_scale[m] + (h == 0 ? q_scale[0] : 0.0));
      if (args.kind == detail::Divergence::kCrossEntropy) {
        sum -= x * of_q;
      } else {
        // Edge by edge, so that where p and q agree nothing is left to round.
        const double of_p =
            detail::minus_k_ln2(p_scores(h, m), p_scale[m] + (h == 0 ? p_scale[0] : 0.0));
        sum += x * (of_p - of_q);
      }
    }
    mean += sum;
  }
  mean = sum_of_threads(mean, per_warp);
  if (threadIdx.x != 0) return;
  const double of_q = args.q_summary.scaled_log_partition[b];
  const double of_p = args.p_summary.scaled_log_partition[b];
  const bool cross = args.kind == detail::Divergence::kCrossEntropy;
  write_divergence(args, b, cross ? of_q + mean : mean + (of_q - of_p));
}

}  // namespace taproot::cuda
