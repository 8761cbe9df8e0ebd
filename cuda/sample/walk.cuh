// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "core/format.h"
#include "core/random.h"
#include "cuda/core/warp.cuh"
#include "cuda/sample/sample.h"
#include "sample/walk/alias.h"

namespace taproot::cuda {

inline constexpr int kWalkThreads = 128;
inline constexpr int kWalkStride =
    kWalkThreads + 2;  // So that reading across trees meets all banks.

/// What a walk knows of a word: its head, above that the number of heads that it may still take,
/// and on top whether it is in the tree. Sentences that fit into shared memory fit into 16 bits.
template <bool kShared>
struct WalkCell {
  using Bits = std::conditional_t<kShared, std::uint16_t, std::uint32_t>;
  static constexpr int kHeadBits = kShared ? 10 : 24;
  static constexpr Bits kHead = (Bits{1} << kHeadBits) - 1;
  static constexpr Bits kInTree = Bits{1} << (8 * sizeof(Bits) - 1);
  static_assert(detail::kHeadsPerWord < kInTree >> kHeadBits);
};

/// Walk::run_on_budget() of src/sample/walk/walk.cc, one thread per tree; word m of a thread's tree
/// has the cell cells[m * kWalkStride + thread].
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
  using Cell = WalkCell<kShared>;
  using Bits = typename Cell::Bits;
  Bits* cells =
      kShared ? reinterpret_cast<Bits*>(memory)
              : reinterpret_cast<Bits*>(args.scratch) +
                    (static_cast<std::int64_t>(b) * gridDim.x + blockIdx.x) * nodes * kWalkStride;
  Bits* own = cells + tid;
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
    constexpr Bits kFresh = static_cast<Bits>(detail::kHeadsPerWord) << Cell::kHeadBits;
    for (int m = 0; m <= n; ++m) own[m * kWalkStride] = kFresh;
    own[root * kWalkStride] = Cell::kInTree;
    int more = static_cast<int>(detail::most_steps(n));
    bool done = true;
    for (int start = 1; start <= n && done; ++start) {
      int node = start;
      for (;;) {
        const Bits cell = own[node * kWalkStride];
        if ((cell & Cell::kInTree) != 0) break;
        const Bits left = static_cast<Bits>(cell >> Cell::kHeadBits);
        if (left == 0 || more == 0) {
          done = false;
          break;
        }
        --more;
        const int head = detail::sample_alias(slots + node * row, n + 1, stream);
        // A walk that returns overwrites this, which erases its loop.
        own[node * kWalkStride] =
            static_cast<Bits>(static_cast<Bits>(left - 1) << Cell::kHeadBits | head);
        node = head;
      }
      if (!done) break;
      for (node = start; (own[node * kWalkStride] & Cell::kInTree) == 0;) {
        const Bits head = own[node * kWalkStride] & Cell::kHead;
        own[node * kWalkStride] = head | Cell::kInTree;
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
    const int head = m <= n ? static_cast<int>(cells[m * kWalkStride + t] & Cell::kHead) : -1;
    args.out.heads[b * args.out.sentence_stride + (first + t) * args.out.tree_stride + m - 1] =
        head;
  }
}

}  // namespace taproot::cuda
