// SPDX-License-Identifier: Apache-2.0
#include "cuda/sample/sample.h"

#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/sample/tables.cuh"
#include "cuda/sample/un_elimination.cuh"
#include "cuda/sample/walk.cuh"

namespace taproot::cuda {
namespace {

constexpr std::size_t kMostShared = 200 << 10;
static_assert(kMostShared / (kWalkStride * sizeof(WalkCell<true>::Bits)) <= WalkCell<true>::kHead);

struct Sizes {
  std::size_t nodes;
  std::size_t table_bytes;
  std::size_t walk_bytes;
  std::size_t long_walk_bytes;  // Of sentences whose walks do not fit into shared memory.
  unsigned table_blocks;
  unsigned walk_blocks;

  explicit Sizes(const SampleArgs& args)
      : nodes(static_cast<std::size_t>(args.batch.max_n) + 1),
        table_bytes(nodes * kTableThreads * 10),
        walk_bytes(nodes * kWalkStride * sizeof(WalkCell<true>::Bits)),
        long_walk_bytes(nodes * kWalkStride * sizeof(WalkCell<false>::Bits)),
        table_blocks(static_cast<unsigned>((nodes + kTableThreads - 1) / kTableThreads)),
        walk_blocks(static_cast<unsigned>((args.trees + kWalkThreads - 1) / kWalkThreads)) {}
};

// Doubles of scratch beyond shared memory.
std::size_t scratch_doubles(const SampleArgs& args) {
  const Sizes sizes(args);
  const std::size_t size = args.batch.size;
  std::size_t doubles = static_cast<std::size_t>(fallback_scratch(args.batch.max_n)) *
                        kFallbackWarps * kFallbackBlocks;
  if (sizes.table_bytes > kMostShared) {
    doubles = std::max(doubles, size * sizes.nodes * sizes.table_blocks * kTableThreads * 2);
  }
  if (sizes.walk_bytes > kMostShared) {
    doubles = std::max(doubles, size * sizes.walk_blocks * (sizes.long_walk_bytes / 8 + 1));
  }
  return doubles;
}

}  // namespace

void take_sample_memory(Arena& arena, const Limits& /*limits*/, SampleArgs& args) {
  const std::size_t size = args.batch.size;
  const auto nodes = static_cast<std::size_t>(args.batch.nodes());
  const auto words = static_cast<std::size_t>(detail::alias_words(args.batch.max_n + 1));
  const std::size_t trees = size * static_cast<std::size_t>(args.trees);
  args.slots = arena.take<std::uint64_t>(size * nodes * nodes * words);
  args.root_slots = arena.take<std::uint64_t>(size * nodes * words);
  args.shares = arena.take<double>(size * nodes * nodes);
  args.direct = arena.take<double>(size * nodes * nodes);
  args.given_up = arena.take<std::int32_t>(size);
  args.list_size = arena.take<std::int32_t>(1);
  args.list = arena.take<std::int64_t>(trees);
  args.list_root = arena.take<std::int32_t>(trees);
  args.scratch = arena.take<double>(scratch_doubles(args));
}

void launch_sample(const SampleArgs& args, const Limits& /*limits*/, void* stream) {
  if (args.batch.size == 0 || args.trees == 0) return;
  const Sizes sizes(args);
  const auto size = static_cast<unsigned>(args.batch.size);
  TAPROOT_CUDA(
      cudaMemsetAsync(args.list_size, 0, sizeof(std::int32_t), static_cast<cudaStream_t>(stream)));
  const dim3 tables(sizes.table_blocks, size);
  if (sizes.table_bytes <= kMostShared) {
    launch(&tables_kernel<true>, tables, kTableThreads, sizes.table_bytes, stream, args);
  } else {
    launch(&tables_kernel<false>, tables, kTableThreads, 0, stream, args);
  }
  const dim3 walks(sizes.walk_blocks, size);
  if (sizes.walk_bytes <= kMostShared) {
    launch(&walk_kernel<true>, walks, kWalkThreads, sizes.walk_bytes, stream, args);
  } else {
    launch(&walk_kernel<false>, walks, kWalkThreads, 0, stream, args);
  }
  launch(&fallback_tables_kernel, size, 256, 0, stream, args);
  launch(&fallback_kernel, kFallbackBlocks, kFallbackWarps * kWarp, 0, stream, args);
}

}  // namespace taproot::cuda
