// SPDX-License-Identifier: Apache-2.0
#include "cuda/sample/without_replacement/beam.h"

#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/sample/without_replacement/expand.cuh"
#include "cuda/sample/without_replacement/select.cuh"
#include "scores/ln2.h"

namespace taproot::cuda {
namespace {

constexpr int kMostBlocks = 528;  // For each sentence; beyond, warps take several prefixes.

// The one prefix that everything begins with, its Gumbel free.
__global__ void begin_kernel(const __grid_constant__ BeamArgs a) {
  const int b = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (b >= a.c.batch.size) return;
  const int n = a.c.batch.n(b);
  const int first = a.c.batch.single ? 0 : 1;
  const auto block = detail::philox_block(a.seed, a.first_sentence + static_cast<std::uint32_t>(b),
                                          0, static_cast<std::uint32_t>(detail::Purpose::kBeam),
                                          (static_cast<std::uint64_t>(n) + 1) * kLevelBlocks);
  const std::int64_t own = static_cast<std::int64_t>(b) * a.width;
  a.gumbel[first][own] = detail::to_gumbel(block.draws[0], block.draws[1]);
  a.log_p[first][own] = 0;
  a.states[b] = 1;
  a.bar[b] = -HUGE_VAL;
  a.exact[b] = 0;
}

// rank[r] = the tree whose Gumbel is the r-th largest.
__global__ void rank_kernel(const __grid_constant__ BeamArgs a) {
  const int b = static_cast<int>(blockIdx.y);
  if (a.c.outcomes[b].status != kOk) return;
  const int n = a.c.batch.n(b);
  const int states = a.states[b];
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  const double* gumbel = a.gumbel[(n + 1) & 1] + base;
  __shared__ double tile[256];
  for (int s0 = static_cast<int>(blockIdx.x * blockDim.x); s0 < states;
       s0 += static_cast<int>(gridDim.x * blockDim.x)) {
    const int s = s0 + static_cast<int>(threadIdx.x);
    const double own = s < states ? gumbel[s] : 0.0;
    int rank = 0;
    for (int t0 = 0; t0 < states; t0 += 256) {
      __syncthreads();
      const int t = t0 + static_cast<int>(threadIdx.x);
      tile[threadIdx.x] = t < states ? gumbel[t] : -HUGE_VAL;
      __syncthreads();
      const int end = min(256, states - t0);
      for (int i = 0; i < end; ++i) {
        rank += tile[i] > own || (tile[i] == own && t0 + i < s) ? 1 : 0;
      }
    }
    if (s < states) a.rank[base + rank] = s;
  }
}

// A warp a tree: its heads, and log p from its scores.
__global__ void output_kernel(const __grid_constant__ BeamArgs a) {
  const int b = static_cast<int>(blockIdx.y);
  const int n = a.c.batch.n(b);
  const bool ok = a.c.outcomes[b].status == kOk;
  const int states = ok ? a.states[b] : 0;
  const int count = min(states, a.trees);
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  const std::int32_t* word = a.c.word + static_cast<std::int64_t>(b) * a.c.ld;
  const double* scale = a.c.scale + static_cast<std::int64_t>(b) * a.c.ld;
  const double* facts = a.c.facts + static_cast<std::int64_t>(b) * kFacts;
  const SentenceView scores(a.c.batch, b, n);
  const double* gumbel = a.gumbel[(n + 1) & 1] + base;
  const int warps = static_cast<int>(gridDim.x) * warp_count();
  for (int t = static_cast<int>(blockIdx.x) * warp_count() + warp_id(); t < a.trees; t += warps) {
    std::int32_t* out = a.out + b * a.out_sentence_stride + t * a.out_tree_stride;
    if (t >= count) {
      for (int m = lane_id(); m < a.out_width; m += kWarp) out[m] = -1;
      continue;
    }
    const int s = a.rank[base + t];
    const Step* path = a.path[n & 1] + (base + a.parent[base + s]) * (a.c.batch.max_n + 1);
    double total = 0;
    for (int l = 1 + lane_id(); l <= n; l += kWarp) {
      const int m = word[l];
      const int h = word[l == n ? a.head[base + s] : path[l].head];
      out[m - 1] = h;
      total += detail::minus_k_ln2(scores(h, m), scale[m] + (h == 0 ? facts[0] : 0.0));
    }
    total = warp_sum(total);
    for (int m = n + lane_id(); m < a.out_width; m += kWarp) out[m] = -1;
    if (lane_id() == 0) {
      const std::int64_t at = static_cast<std::int64_t>(b) * a.trees + t;
      a.out_log_prob[at] = total - detail::log_scaled(facts[1], facts[2]);
      a.out_gumbel[at] = gumbel[s];
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0 && ok) {
    const double threshold = states > a.trees ? gumbel[a.rank[base + a.trees]] : -HUGE_VAL;
    a.out_count[b] = count;
    atomicAdd(reinterpret_cast<unsigned long long*>(a.counter),
              static_cast<unsigned long long>(a.exact[b]));
    a.out_threshold[b] = threshold;
    // As in DistinctSampler: what double lacks might be among the trees.
    constexpr double kLeastGumbelInDouble = -120;
    if (threshold < kLeastGumbelInDouble && facts[3] == 0) a.c.outcomes[b].status = kOutOfRange;
  }
}

template <int kChunk>
void run_levels(const BeamArgs& args, void* stream) {
  const auto size = static_cast<unsigned>(args.c.batch.size);
  const dim3 grid(static_cast<unsigned>(beam_blocks(args)), size);
  for (int level = args.c.batch.single ? 0 : 1; level <= args.c.batch.max_n; ++level) {
    launch(&expand_kernel<kChunk>, grid, kExpandWarps * kWarp, 0, stream, args, level);
    launch(&select_kernel<kChunk>, size, kSelectThreads, 0, stream, args, level);
  }
}

}  // namespace

int beam_chunk(int max_n) {
  for (const int chunk : {1, 2, 4, 8, 16, 32}) {
    if (max_n + 1 <= chunk * kWarp) return chunk;
  }
  return 0;
}

int beam_blocks(const BeamArgs& args) {
  return std::min((args.width + kExpandWarps - 1) / kExpandWarps, kMostBlocks);
}

void launch_beam(const BeamArgs& args, const Shape& shape, void* stream) {
  if (args.c.batch.size == 0) return;
  const auto size = static_cast<unsigned>(args.c.batch.size);
  TAPROOT_CUDA(cudaMemsetAsync(args.locks, 0, sizeof(std::int32_t) * args.slots,
                               static_cast<cudaStream_t>(stream)));
  launch_conditionals(args.c, shape, stream);
  launch(&begin_kernel, (size + 127) / 128, 128, 0, stream, args);
  switch (beam_chunk(args.c.batch.max_n)) {
    case 1:
      run_levels<1>(args, stream);
      break;
    case 2:
      run_levels<2>(args, stream);
      break;
    case 4:
      run_levels<4>(args, stream);
      break;
    case 8:
      run_levels<8>(args, stream);
      break;
    case 16:
      run_levels<16>(args, stream);
      break;
    default:
      run_levels<32>(args, stream);
  }
  const auto rows = static_cast<unsigned>(std::min((args.width + 255) / 256, kMostBlocks));
  launch(&rank_kernel, dim3(rows, size), 256, 0, stream, args);
  const auto trees = static_cast<unsigned>(std::min((args.trees + 7) / 8, kMostBlocks));
  launch(&output_kernel, dim3(std::max(trees, 1u), size), 256, 0, stream, args);
}

}  // namespace taproot::cuda
