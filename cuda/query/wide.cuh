// SPDX-License-Identifier: Apache-2.0
//
// Elimination over the wide scalar by one thread block per sentence, with the passes of
// eliminate/factor.cuh and query/gradient.cuh.
#pragma once

#include "cuda/query/inference.cuh"
#include "cuda/query/wide.h"
#include "scores/wide_weight.h"

namespace taproot::cuda {

inline constexpr int kWideThreads = 256;
inline constexpr int kWideWarps = kWideThreads / kWarp;
inline constexpr int kWideChunk = 2;
inline constexpr int kWideVectors = 5 + kWideWarps;  ///< For a Hessian; see HessianRows.

/// What a slot has: vectors first, then matrices.
TAPROOT_HOST_DEVICE inline std::int64_t wide_cells(std::int64_t nodes) {
  return nodes * (nodes | 1);
}
TAPROOT_HOST_DEVICE inline std::int64_t wide_rows(std::int64_t nodes) {
  return (2 + kWideVectors) * nodes + kWideWarps * (kWarp * kWideChunk + 1);
}

/// The memory of one sentence: vectors of double in shared memory, all of Wide in a slot.
struct WideBlock : Block<detail::Wide> {
  detail::Wide* vectors;  ///< [kWideVectors][max_n+1]
  detail::Wide* matrices;
  std::int64_t cells;

  __device__ WideBlock(unsigned char* memory, const Layout& layout, detail::Wide* slot, int max_n)
      : Block(memory, layout, false, slot + wide_rows(max_n + 1)),
        matrices(slot + wide_rows(max_n + 1)),
        cells(wide_cells(max_n + 1)) {
    w.pivot = slot;
    w.dots = w.pivot + max_n + 1;
    w.part = w.dots + max_n + 1;
    w.part_e = w.part + kWideWarps * kWarp * kWideChunk;
    vectors = w.part_e + kWideWarps;
  }
  /// The first is that of the factors, and then of the gradient.
  __device__ detail::Wide* matrix(int i) const { return matrices + i * cells; }
};

/// The layout of the shared part for sentences of up to n words.
TAPROOT_HOST_DEVICE inline Layout wide_layout(int n) {
  return Layout(n, kWideThreads, kWideChunk, 0, false);
}

/// The scaled weights of a sentence over Wide.
struct WideWeights {
  EdgeReader scores;
  const double* scale;  ///< Of the columns.
  double root_scale;

  __device__ detail::Wide operator()(int h, int m) const {
    if (m == 0 || h == m) return 0.0;
    return detail::wide_weight(scores(h, m), scale[m] + (h == 0 ? root_scale : 0.0));
  }
};

/// From scores to factors in block.matrix(0), with all facts but `bits`. `weights` [n+1][n+1] takes
/// the weights in double, which choose the order. The sentence must have a tree.
__device__ inline void eliminate_wide(const Batch& batch, int b, double* weights, WideBlock& block,
                                      SentenceFacts& facts, CudaOutcome* outcome) {
  using detail::Wide;
  const int n = batch.n(b);
  const EdgeReader scores(batch, b, n);
  if (!prepare(scores, n, batch.max_n, batch.single(), weights, block, facts, outcome)) return;
  assign_positions(n, 0, block.v);
  const WideWeights weight{scores, block.v.scale, facts.root_scale};
  Work<Wide>& w = block.w;
  for (int m = 1 + warp_id(); m <= n; m += warp_count()) {
    Wide* row = w.matrix + static_cast<std::int64_t>(m) * w.ld;
    for (int h = lane_id(); h <= n; h += kWarp) row[h] = weight(block.v.order[h], block.v.order[m]);
  }
  __syncthreads();
  factor<Wide, kWideChunk>(n, batch.single(), w);
  if (warp_id() == 0) {
    Wide z = 1.0;
    for (int k = 1 + lane_id(); k <= n; k += kWarp) z *= w.pivot[k];
    for (int step = 16; step > 0; step /= 2) z *= shuffle_xor(z, step);
    if (lane_id() == 0) {
      facts.mantissa = z.mantissa();
      facts.exponent = static_cast<double>(z.exponent());
    }
  }
  __syncthreads();
}

}  // namespace taproot::cuda
