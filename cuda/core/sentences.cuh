// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace taproot::cuda {

/// visit(b) by all threads of this block, for its share of the sentences that are `wanted`.
template <typename Wanted, typename Visit>
__device__ inline void for_sentences(int size, Wanted&& wanted, Visit&& visit) {
  const int first = static_cast<int>(blockIdx.x);
  const int blocks = static_cast<int>(gridDim.x);
  bool any = false;  // Most blocks may have none, which their threads find out together.
  for (int b = first + static_cast<int>(threadIdx.x) * blocks; b < size;
       b += blocks * static_cast<int>(blockDim.x)) {
    any = any || wanted(b);
  }
  if (__syncthreads_or(any ? 1 : 0) == 0) return;
  for (int b = first; b < size; b += blocks) {
    if (!wanted(b)) continue;
    __syncthreads();  // All have read the status, and nobody the memory of the sentence before.
    visit(b);
    __syncthreads();
  }
}

}  // namespace taproot::cuda
