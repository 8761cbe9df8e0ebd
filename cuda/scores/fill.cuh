// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "cuda/core/warp.cuh"
#include "cuda/scores/batch.h"

namespace taproot::cuda {

/// Sets cells of the caller's edges to `value`: those of a sentence of n words or, if `beyond`,
/// those beyond its length. By one block; out of line, because few sentences need it and its
/// registers would cost the others.
__device__ __noinline__ inline void fill_edges(const CudaEdges& edges, int max_n, int b, int n,
                                               bool beyond, double value) {
  if (edges.data == nullptr) return;
  // Sentences that follow one another have no cells beyond their length.
  const bool packed = edges.offsets != nullptr || edges.head_stride == 0;
  const bool bad_length = n < 0 || n > max_n;
  if (packed && (beyond || bad_length)) return;
  const int own = bad_length ? max_n : n;
  const int last = beyond ? max_n : own;
  const EdgeWriter writer(edges, b, own);
  for (int h = warp_id(); h <= last; h += warp_count()) {
    for (int m = (beyond && h <= own ? own + 1 : 0) + lane_id(); m <= last; m += kWarp) {
      writer.write(h, m, value);
    }
  }
}

/// The edges of a sentence that has no answer: 0 without a tree, else NaN in all cells of the
/// padded matrix.
__device__ inline void fill_failure(const CudaEdges& edges, int max_n, int b, int n, bool no_tree) {
  if (no_tree) return fill_edges(edges, max_n, b, n, false, 0);
  const bool packed = edges.offsets != nullptr || edges.head_stride == 0;
  fill_edges(edges, max_n, b, packed ? n : max_n, false, NAN);
}

}  // namespace taproot::cuda
