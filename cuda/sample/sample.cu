// SPDX-License-Identifier: Apache-2.0
#include "cuda/sample/sample.h"

#include <algorithm>
#include <limits>

#include "cuda/core/launch.h"
#include "cuda/sample/pop.cuh"
#include "cuda/sample/tables.cuh"
#include "cuda/sample/un_elimination.cuh"

namespace taproot::cuda {
namespace {

// Of warps that pop, a multiprocessor has registers for 24 in blocks of up to 8, or for 16.
constexpr int kUsualWarps = 8;
constexpr int kMostResident = 24;
constexpr int kMostWaves = 16;
constexpr double kTail = 3;

// How popping is launched.
struct PopShape {
  bool is_short;
  bool table_shared = false;
  bool cells_shared = false;
  int warps = 4;  // Per block.
  int resident = 4;
  std::size_t bytes = 0;  // Of shared memory.
  unsigned blocks = 1;    // Per sentence.

  PopShape(const SampleArgs& args, const Limits& limits)
      : is_short(args.batch.max_n <= ShortCell::kMostWords) {
    const int max_n = args.batch.max_n;
    const std::size_t table = table_words(max_n) * sizeof(std::uint32_t);
    const std::size_t cells = cell_bytes(max_n);
    const int most = std::clamp((args.trees + kWarp - 1) / kWarp, 1, kMostPopWarps);
    // Gathers are much faster from a table in shared memory. Put it there, unless too few warps
    // then fit on a multiprocessor.
    if (is_short) choose_warps(limits, table, cells, most);
    if (is_short && bytes > 0 && resident >= std::min(most, kUsualWarps * 3 / 4)) {
      table_shared = true;
    } else {
      choose_warps(limits, 0, cells, most);
    }
    cells_shared = bytes > 0;
    if (!cells_shared) warps = resident = std::min(4, most);
    choose_blocks(args, std::max(1, limits.multiprocessors * (resident / warps)));
  }

  static std::size_t cell_bytes(int max_n) {  // Of a warp.
    return static_cast<std::size_t>(kWarp * cell_stride(max_n)) * sizeof(std::uint32_t);
  }

 private:
  // The number of blocks per sentence that takes the least time: blocks run in waves of `at_once`,
  // and in each of them most lanes wait for the last trees, about as long as kTail trees take.
  void choose_blocks(const SampleArgs& args, int at_once) {
    const auto size = static_cast<std::int64_t>(args.batch.size);
    const int lanes = warps * kWarp;
    const std::int64_t most_waves = cells_shared ? kMostWaves : 1;  // Other cells take memory.
    const std::int64_t most =
        std::clamp<std::int64_t>(most_waves * at_once / size, 1, (args.trees + lanes - 1) / lanes);
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t count = 1; count <= most; ++count) {
      const auto waves = static_cast<double>((count * size + at_once - 1) / at_once);
      const double time = waves * (kTail + args.trees / static_cast<double>(count * lanes));
      if (time >= least) continue;
      least = time;
      blocks = static_cast<unsigned>(count);
    }
  }

  // The block with which the most warps are resident on a multiprocessor.
  void choose_warps(const Limits& limits, std::size_t table, std::size_t cells, int most) {
    resident = 0;
    bytes = 0;
    for (int i = 0; i < kMostPopWarps; ++i) {  // First the usual number, then more, then fewer.
      const int w = i <= kMostPopWarps - kUsualWarps ? kUsualWarps + i : kMostPopWarps - i;
      const std::size_t needed = table + static_cast<std::size_t>(w) * cells;
      if (w > most && w > 1) continue;
      if (needed > limits.most_shared) continue;
      const auto blocks_at_once = static_cast<int>(limits.most_shared / (needed + 1024));
      const int allowed = w > kUsualWarps ? kMostPopWarps : kMostResident;
      const int found = std::min(allowed / w, std::max(1, blocks_at_once)) * w;
      if (found <= resident) continue;
      resident = found;
      warps = w;
      bytes = needed;
    }
  }
};

std::size_t table_bytes(const SampleArgs& args) {
  return static_cast<std::size_t>(args.batch.nodes()) * kTableThreads * 10;
}
unsigned table_blocks(const SampleArgs& args) {
  return static_cast<unsigned>((args.batch.nodes() + kTableThreads - 1) / kTableThreads);
}

std::size_t fallback_bytes(const SampleArgs& args) {  // Of a block.
  return static_cast<std::size_t>(fallback_scratch(args.batch.max_n)) * kFallbackWarps *
         sizeof(double);
}

// Doubles of scratch beyond shared memory.
std::size_t scratch_doubles(const SampleArgs& args, const Limits& limits) {
  const std::size_t size = args.batch.size;
  std::size_t doubles = 0;
  if (fallback_bytes(args) > limits.most_shared) {
    doubles = fallback_bytes(args) * kFallbackBlocks / sizeof(double);
  }
  if (table_bytes(args) > limits.most_shared) {
    doubles = std::max(doubles, size * static_cast<std::size_t>(args.batch.nodes()) *
                                    table_blocks(args) * kTableThreads * 2);
  }
  const PopShape shape(args, limits);
  if (!shape.cells_shared) {
    doubles = std::max(doubles, size * shape.blocks * static_cast<std::size_t>(shape.warps) *
                                    PopShape::cell_bytes(args.batch.max_n) / sizeof(double));
  }
  return doubles;
}

void launch_popping(const SampleArgs& args, const Limits& limits, void* stream) {
  const PopShape shape(args, limits);
  const bool is_small = shape.warps <= kUsualWarps && shape.resident > kMostPopWarps;
  const auto kernel =
      shape.table_shared && is_small
          ? &pop_kernel<ShortCell, true, true, kUsualWarps, kMostResident / kUsualWarps>
      : shape.table_shared ? &pop_kernel<ShortCell, true, true, kMostPopWarps, 1>
      : shape.is_short     ? &pop_kernel<ShortCell, false, true, kMostPopWarps, 1>
      : shape.cells_shared ? &pop_kernel<LongCell, false, true, kMostPopWarps, 1>
                           : &pop_kernel<LongCell, false, false, kMostPopWarps, 1>;
  launch(kernel, dim3(shape.blocks, static_cast<unsigned>(args.batch.size)), shape.warps * kWarp,
         shape.bytes, stream, args);
}

}  // namespace

void take_sample_memory(Arena& arena, const Limits& limits, SampleArgs& args) {
  const std::size_t size = args.batch.size;
  const auto nodes = static_cast<std::size_t>(args.batch.nodes());
  const auto planes = static_cast<std::size_t>(detail::alias_planes(args.batch.max_n + 1));
  const std::size_t trees = size * static_cast<std::size_t>(args.trees);
  args.planes = arena.take<std::uint32_t>(size * nodes * nodes * planes);
  args.shares = arena.take<double>(size * nodes * nodes);
  args.direct = arena.take<double>(size * nodes * nodes);
  args.given_up = arena.take<std::int32_t>(size);
  args.list_size = arena.take<std::int32_t>(1);
  args.list = arena.take<std::int64_t>(trees);
  args.list_root = arena.take<std::int32_t>(trees);
  args.scratch = arena.take<double>(scratch_doubles(args, limits));
}

void launch_sample(const SampleArgs& args, const Limits& limits, void* stream) {
  if (args.batch.size == 0 || args.trees == 0) return;
  const auto size = static_cast<unsigned>(args.batch.size);
  TAPROOT_CUDA(
      cudaMemsetAsync(args.list_size, 0, sizeof(std::int32_t), static_cast<cudaStream_t>(stream)));
  const dim3 tables(table_blocks(args), size);
  if (table_bytes(args) <= limits.most_shared) {
    launch(&tables_kernel<true>, tables, kTableThreads, table_bytes(args), stream, args);
  } else {
    launch(&tables_kernel<false>, tables, kTableThreads, 0, stream, args);
  }
  launch_popping(args, limits, stream);
  launch(&fallback_tables_kernel, size, 256, 0, stream, args);
  const std::size_t fallback = fallback_bytes(args);
  const bool is_shared = fallback <= limits.most_shared;
  launch(is_shared ? &fallback_kernel<true> : &fallback_kernel<false>, kFallbackBlocks,
         kFallbackWarps * kWarp, is_shared ? fallback : 0, stream, args);
}

}  // namespace taproot::cuda
