// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random.h"
#include "cuda/core/warp.cuh"
#include "cuda/sample/sample.h"
#include "sample/walk/alias.h"

namespace taproot::cuda {

inline constexpr int kWalkThreads = 128;
inline constexpr int kWalkStride =
    kWalkThreads + 2;  // So that reading across trees meets all banks.
inline constexpr std::uint16_t kInTree = 0x8000;

/// The walk of src/sample/walk/walk.cc, one thread per tree. heads[m * kWalkStride + thread] is m's
/// head, with kInTree set once m is in the tree.
template <bool kShared>
__global__ void __launch_bounds__(kWalkThreads) walk_kernel(SampleArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ bool finished[kWalkThreads];
  __shared__ detail::StreamKey key;
  const int b = static_cast<int>(blockIdx.y);
  const int tid = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) * kWalkThreads;
  const int s = first + tid;
  const bool ok = args.summary.outcomes[b].status == kOk;
  const int n = ok ? args.batch.n(b) : 0;
  const std::int64_t nodes = args.batch.max_n + 1;
  std::uint16_t* heads =
      kShared ? reinterpret_cast<std::uint16_t*>(memory)
              : reinterpret_cast<std::uint16_t*>(args.scratch) +
                    (static_cast<std::int64_t>(b) * gridDim.x + blockIdx.x) * nodes * kWalkStride;
  std::uint16_t* own = heads + tid;
  finished[tid] = false;
  if (tid == 0) key = detail::stream_key(args.seed, args.batch.id(b));
  __syncthreads();
  if (ok && s < args.trees) {
    const std::int64_t wide = detail::alias_words(args.batch.max_n + 1);
    const int row = (n + 1) * detail::alias_words(n + 1);
    const std::uint64_t* slots = args.slots + b * nodes * nodes * wide;
    detail::PlainStream stream(key, args.first_tree + static_cast<std::uint32_t>(s),
                               detail::Purpose::kTree);
    const int root = args.batch.single()
                         ? 1 + detail::sample_alias(args.root_slots + b * nodes * wide, n, stream)
                         : 0;
    for (int m = 0; m <= n; ++m) own[m * kWalkStride] = 0;
    own[root * kWalkStride] = kInTree;
    int left = static_cast<int>(detail::kBudgetPerWord) * n;
    bool done = true;
    for (int start = 1; start <= n && done; ++start) {
      int node = start;
      while ((own[node * kWalkStride] & kInTree) == 0) {
        if (left-- == 0) {
          done = false;
          break;
        }
        const int head = detail::sample_alias(slots + node * row, n + 1, stream);
        own[node * kWalkStride] = static_cast<std::uint16_t>(head);  // Erases loops.
        node = head;
      }
      if (!done) break;
      for (node = start; (own[node * kWalkStride] & kInTree) == 0;) {
        const std::uint16_t head = own[node * kWalkStride];
        own[node * kWalkStride] = head | kInTree;
        node = head;
      }
    }
    finished[tid] = done;
    if (!done) {
      atomicAdd(args.given_up + b, 1);
      const int at = atomicAdd(args.list_size, 1);
      args.list[at] = static_cast<std::int64_t>(b) * args.trees + s;
      args.list_root[at] = root;
    }
  }
  __syncthreads();
  // Neighboring threads write neighboring heads of one tree. Trees whose walk was given up are
  // written by fallback_kernel.
  const int trees = min(kWalkThreads, args.trees - first);
  const int width = args.batch.max_n;
  for (int i = tid; i < trees * width; i += kWalkThreads) {
    const int t = i / width;
    const int m = i % width + 1;
    if (ok && m <= n && !finished[t]) continue;
    const int head =
        m <= n ? (heads[m * kWalkStride + t] & static_cast<std::uint16_t>(~kInTree)) : -1;
    args.out.heads[b * args.out.sentence_stride + (first + t) * args.out.tree_stride + m - 1] =
        head;
  }
}

}  // namespace taproot::cuda
