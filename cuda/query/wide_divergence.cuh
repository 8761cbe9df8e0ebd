// SPDX-License-Identifier: Apache-2.0
//
// wide_divergence() of src/query/wide_divergence.h by one thread block.
#pragma once

#include "cuda/core/warp.cuh"
#include "query/wide_entry.h"

namespace taproot::cuda {

/// The entries of all edges by position, row = modifier, in global memory.
struct WideEntries {
  detail::Wide* p;
  detail::Wide* q;
  double* gap;
  int ld;

  __device__ std::int64_t at(int head, int modifier) const {
    return static_cast<std::int64_t>(modifier) * ld + head;
  }
  __device__ detail::WideEntry get(int head, int modifier) const {
    const std::int64_t i = at(head, modifier);
    return {p[i], q[i], gap[i]};
  }
  __device__ void set(int head, int modifier, const detail::WideEntry& entry) const {
    const std::int64_t i = at(head, modifier);
    p[i] = entry.p;
    q[i] = entry.q;
    gap[i] = entry.gap;
  }
};

/// The sum over the warp's lanes, the same for all of them.
template <detail::Divergence kKind>
__device__ inline detail::WideEntry warp_sum_of_entries(detail::WideEntry x) {
  const auto from = [](const detail::WideEntry& e, int step) {
    return detail::WideEntry{shuffle_xor(e.p, step), shuffle_xor(e.q, step),
                             shuffle_xor(e.gap, step)};
  };
  for (int step = 16; step > 0; step /= 2) {
    const detail::WideEntry other = from(x, step);
    // In one order, because sum() is not symmetric in the last bits.
    x = (lane_id() & step) == 0 ? detail::sum<kKind>(x, other) : detail::sum<kKind>(other, x);
  }
  return x;
}

/// The cross-entropy or the KL divergence. The entries are overwritten.
template <detail::Divergence kKind>
__device__ double wide_divergence(int n, bool single, const WideEntries& entries) {
  double total = 0;
  for (int k = n; k >= 2; --k) {
    detail::WideEntry pivot{0.0, 0.0, 0};
    for (int h = (single ? 1 : 0) + lane_id(); h < k; h += kWarp) {
      pivot = detail::sum<kKind>(pivot, entries.get(h, k));
    }
    pivot = warp_sum_of_entries<kKind>(pivot);  // By every warp, which saves a barrier.
    total += pivot.gap;
    for (int m = 1 + warp_id(); m < k; m += warp_count()) {
      const detail::WideEntry out = entries.get(k, m);
      if (out.q.is_zero()) continue;
      for (int h = lane_id(); h < k; h += kWarp) {
        const detail::WideEntry edge = entries.get(h, k);
        if (h == m || edge.q.is_zero()) continue;
        const detail::WideEntry way = detail::chained(detail::share_of(edge, pivot), out);
        entries.set(h, m, detail::sum<kKind>(entries.get(h, m), way));
      }
    }
    __syncthreads();
  }
  return -(total + entries.get(0, 1).gap);
}

}  // namespace taproot::cuda
