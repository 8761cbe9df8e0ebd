// SPDX-License-Identifier: Apache-2.0
#include "cuda/sample/without_replacement/beam.h"

#include <algorithm>
#include <type_traits>

#include "core/ln2.h"
#include "core/probability.h"
#include "cuda/core/launch.h"
#include "cuda/sample/without_replacement/expand.cuh"
#include "cuda/sample/without_replacement/select.cuh"
#include "sample/without_replacement/weight.h"

namespace taproot::cuda {
namespace {

constexpr int kMostBlocks = 1056;  // Per sentence; beyond that, warps take several prefixes.

// The empty prefix, whose Gumbel is not truncated.
__global__ void begin_kernel(const __grid_constant__ BeamArgs a) {
  let_next_start();
  wait_for_previous();
  const int b = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (b >= static_cast<int>(a.c.batch.size)) return;
  const int n = a.c.batch.n(b);
  const int first = a.c.batch.single() ? 0 : 1;
  a.keys[b] = detail::stream_key(a.seed, a.c.batch.id(b));
  const auto block =
      detail::philox_block(a.keys[b], 0, detail::Purpose::kBeam,
                           (static_cast<std::uint64_t>(n) + 1) * detail::kLevelBlocks);
  const std::int64_t own = static_cast<std::int64_t>(b) * a.width;
  a.gumbel[first][own] = detail::to_gumbel(block.draws[0], block.draws[1]);
  a.log_p[first][own] = 0;
  a.states[b] = 1;
  a.bar[b] = -HUGE_VAL;
  a.exact[b] = 0;
  a.list_size[b] = 0;
}

__device__ std::int32_t* heads_of(const BeamArgs& a, int b, int tree) {
  return a.out.trees.heads + b * a.out.trees.sentence_stride + tree * a.out.trees.tree_stride;
}

// A warp per tree finds its rank by counting, its heads, and log p from its scores.
template <int kWords>
__global__ void output_kernel(const __grid_constant__ BeamArgs a) {
  wait_for_previous();
  const int b = static_cast<int>(blockIdx.y);
  const int n = a.c.batch.n(b);
  const bool ok = a.c.outcomes[b].status == kOk;
  const int states = ok ? a.states[b] : 0;
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  const std::int32_t* word = a.c.word + static_cast<std::int64_t>(b) * a.c.ld;
  const double* scale = a.c.scale + static_cast<std::int64_t>(b) * a.c.ld;
  const double* facts = a.c.facts + static_cast<std::int64_t>(b) * kFacts;
  const EdgeReader scores(a.c.batch, b, n);
  const int out_width = a.c.batch.max_n;
  const double* gumbel = a.gumbel[(n + 1) & 1] + base;
  const int warps = static_cast<int>(gridDim.x) * warp_count();
  for (int s = static_cast<int>(blockIdx.x) * warp_count() + warp_id(); s < a.width; s += warps) {
    if (s >= states) {
      if (s >= a.trees) continue;
      std::int32_t* out = heads_of(a, b, s);
      for (int m = lane_id(); m < out_width; m += kWarp) out[m] = -1;
      continue;
    }
    const double own = gumbel[s];
    int before = 0;
#pragma unroll 4
    for (int t = lane_id(); t < states; t += kWarp) {
      const double other = gumbel[t];
      before += other > own || (other == own && t < s) ? 1 : 0;
    }
    const int rank = warp_sum(before);
    if (rank >= a.trees) {  // Its Gumbel is kappa.
      if (lane_id() == 0) a.out.kappa[b] = own;
      continue;
    }
    std::int32_t* out = heads_of(a, b, rank);
    const std::int64_t parent = base + a.parent[base + s];
    const int start = block_start<kWords>(n);
    const Step* path =
        a.path[block_parity<kWords>(n)] + (base + a.anchor[n & 1][parent]) * (a.c.batch.max_n + 1);
    const Step* steps = a.steps[n & 1] + parent * kWords - start;
    double total = 0;
    for (int l = 1 + lane_id(); l <= n; l += kWarp) {
      const int m = word[l];
      const int h = word[l == n ? a.head[base + s] : (l < start ? path : steps)[l].head];
      out[m - 1] = h;
      total += detail::minus_k_ln2(scores(h, m), scale[m] + (h == 0 ? facts[0] : 0.0));
    }
    total = warp_sum(total);
    for (int m = n + lane_id(); m < out_width; m += kWarp) out[m] = -1;
    if (lane_id() == 0) {
      const std::int64_t at = static_cast<std::int64_t>(b) * a.trees + rank;
      a.out.log_prob[at] =
          detail::nearest_log_probability(total - detail::log_scaled(facts[1], facts[2]));
      a.out.gumbel[at] = own;
    }
  }
}

// Kappa, counts and weights; one block per sentence. If the weights of a sentence do not fit double
// and kappa is very low or -inf, trees that double flushed to 0 might belong to the sample, as in
// Decider::sample_beam(): such a sentence is out of range.
__global__ void finish_kernel(const __grid_constant__ BeamArgs a) {
  wait_for_previous();
  const int b = static_cast<int>(blockIdx.x);
  if (a.c.outcomes[b].status != kOk) return;
  const int count = min(a.states[b], a.trees);
  const double kappa = a.states[b] <= a.trees ? -HUGE_VAL : a.out.kappa[b];
  __syncthreads();  // All have read the status and kappa.
  if (a.out.weight != nullptr) {
    const std::int64_t at = static_cast<std::int64_t>(b) * a.trees;
    for (int s = static_cast<int>(threadIdx.x); s < a.trees; s += static_cast<int>(blockDim.x)) {
      a.out.weight[at + s] =
          s < count ? detail::horvitz_thompson(a.out.log_prob[at + s], kappa) : 0.0;
    }
  }
  if (threadIdx.x != 0) return;
  a.out.count[b] = count;
  a.out.kappa[b] = kappa;
  const bool fits = a.c.facts[static_cast<std::int64_t>(b) * kFacts + 3] != 0;
  if (!fits && kappa < detail::kLeastGumbelInDouble) a.c.outcomes[b].status = kCudaOutOfRange;
  atomicAdd(reinterpret_cast<unsigned long long*>(a.counter),
            static_cast<unsigned long long>(a.exact[b]));
}

template <int kChunk, bool kNarrow>
void run_levels(const BeamArgs& args, bool early, void* stream) {
  const auto size = static_cast<unsigned>(args.c.batch.size);
  const dim3 grid(static_cast<unsigned>(beam_blocks(args)), size);
  const std::size_t select_bytes = SelectLayout(args.width).bytes();
  constexpr int kWarps = kExpandWarps<kNarrow>;
  const int max_n = args.c.batch.max_n;
  for (int level = args.c.batch.single() ? 0 : 1; level <= max_n; ++level) {
    const auto bytes = static_cast<std::size_t>(kWarps * expand_bytes<kNarrow>(max_n, level));
    launch_dependent(early, &expand_kernel<kChunk, kNarrow>, grid, kWarps * kWarp, bytes, stream,
                     args, level);
    launch_dependent(early, &select_kernel<kChunk>, size, kSelectThreads, select_bytes, stream,
                     args, level);
  }
  const auto trees = static_cast<unsigned>(std::min((args.width + 7) / 8, kMostBlocks));
  launch_dependent(early, &output_kernel<block_words(kChunk)>, dim3(trees, size), 256, 0, stream,
                   args);
}

}  // namespace

int beam_chunk(int max_n) {
  for (const int chunk : {1, 2, 4, 8, 16, 32}) {
    if (max_n + 1 <= chunk * kWarp) return chunk;
  }
  return 0;
}

bool beam_can_be_narrow(int max_n, std::size_t most_shared) {
  return max_n < kMostNarrow &&
         static_cast<std::size_t>(kExpandWarps<true> * expand_bytes<true>(max_n, 0)) <= most_shared;
}

int beam_blocks(const BeamArgs& args) {
  const int warps = args.narrow ? kExpandWarps<true> : kExpandWarps<false>;
  return std::min((args.width + warps - 1) / warps, kMostBlocks);
}

void launch_beam(const BeamArgs& args, const Shape& shape, bool early, void* stream) {
  if (args.c.batch.size == 0) return;
  const auto size = static_cast<unsigned>(args.c.batch.size);
  TAPROOT_CUDA(cudaMemsetAsync(args.locks, 0,
                               sizeof(std::int32_t) * static_cast<std::size_t>(args.slots),
                               static_cast<cudaStream_t>(stream)));
  launch_conditionals(args.c, shape, stream);
  launch_dependent(early, &begin_kernel, (size + 127) / 128, 128, 0, stream, args);
  const auto run = [&]<int kChunk>(std::integral_constant<int, kChunk>) {
    if constexpr (kChunk * kWarp <= kMostNarrow) {
      if (args.narrow) return run_levels<kChunk, true>(args, early, stream);
    }
    run_levels<kChunk, false>(args, early, stream);
  };
  switch (beam_chunk(args.c.batch.max_n)) {
    case 1:
      run(std::integral_constant<int, 1>{});
      break;
    case 2:
      run(std::integral_constant<int, 2>{});
      break;
    case 4:
      run(std::integral_constant<int, 4>{});
      break;
    case 8:
      run(std::integral_constant<int, 8>{});
      break;
    case 16:
      run(std::integral_constant<int, 16>{});
      break;
    default:
      run(std::integral_constant<int, 32>{});
  }
  launch_dependent(early, &finish_kernel, size, 128, 0, stream, args);
}

}  // namespace taproot::cuda
