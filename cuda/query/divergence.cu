// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/query/divergence.cuh"
#include "cuda/query/wide.cuh"
#include "cuda/query/wide_divergence.cuh"
#include "cuda/scores/support.cuh"

namespace taproot::cuda {
namespace {

using detail::Divergence;
using detail::Wide;

constexpr int kThreads = 128;

// Whether q forbids an edge that some tree of p has. The result is the same for all threads.
__device__ bool forbids_support(const EdgeReader& p, const EdgeReader& q, int n, bool single,
                                std::uint8_t* memory) {
  const auto differs = [&](int h, int m) {
    return h != m && p(h, m) != -HUGE_VAL && q(h, m) == -HUGE_VAL;
  };
  if (!forbids_more(p, q, n)) return false;
  bool any = false;
  Support support(p, n, single, memory);
  support.find_last_words();
  for (int m = 1; m <= n; ++m) {
    any = false;
    for (int h = static_cast<int>(threadIdx.x); h <= n; h += kThreads) any |= differs(h, m);
    if (__syncthreads_or(any ? 1 : 0) == 0) continue;
    support.choose(m);
    any = false;
    for (int h = static_cast<int>(threadIdx.x); h <= n; h += kThreads) {
      any |= differs(h, m) && support.supports(h, m);
    }
    if (__syncthreads_or(any ? 1 : 0) != 0) return true;
  }
  return false;
}

__global__ void __launch_bounds__(kThreads)
    divergence_kernel(const __grid_constant__ DivergenceArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[kThreads / kWarp];
  const int b = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0) args.wide[b] = 0;
  if (!are_comparable(args, b)) return;
  const int n = args.p.n(b);
  const EdgeReader p_scores(args.p, b, n);
  const EdgeReader q_scores(args.q, b, n);
  if (forbids_support(p_scores, q_scores, n, args.p.single(), memory)) {
    if (threadIdx.x == 0) args.out[b] = HUGE_VAL;
    return;
  }
  if (args.p_summary.scalar[b] == kInWide || args.q_summary.scalar[b] == kInWide) {
    if (threadIdx.x == 0) args.wide[b] = 1;
    return;
  }
  compare_in_double(args, b, per_warp);
}

__device__ void answer(const DivergenceArgs& args, int b, unsigned char* memory, Wide* slot,
                       SentenceFacts& facts) {
  const int n = args.p.n(b);
  WideBlock block(memory, wide_layout(n), slot, args.p.max_n);
  const EdgeReader scores(args.p, b, n);
  // The gaps have half of the third matrix, and what chooses the order of elimination the other.
  double* gaps = reinterpret_cast<double*>(block.matrix(2));
  CudaOutcome unused;
  if (!prepare(scores, n, args.p.max_n, args.p.single(), gaps + block.cells, block, facts,
               &unused)) {
    return;
  }
  assign_positions(n, 0, block.v);
  const double* q_scale = args.q_summary.scale + b * args.q.nodes();
  const WideWeights p{scores, block.v.scale, facts.root_scale};
  const WideWeights q{EdgeReader(args.q, b, n), q_scale, q_scale[0]};
  const WideEntries entries{block.matrix(0), block.matrix(1), gaps, block.w.ld};
  for (int m = 1 + warp_id(); m <= n; m += kWideWarps) {
    for (int h = lane_id(); h <= n; h += kWarp) {
      const int head = block.v.order[h];
      const int modifier = block.v.order[m];
      const Wide of_q = q(head, modifier);
      // An edge that q forbids is in no tree of p, so p may forbid it, too.
      entries.set(h, m, {of_q.is_zero() ? Wide(0.0) : p(head, modifier), of_q, 0});
    }
  }
  __syncthreads();
  const double x = args.kind == Divergence::kCrossEntropy
                       ? wide_divergence<Divergence::kCrossEntropy>(n, args.p.single(), entries)
                       : wide_divergence<Divergence::kRelativeEntropy>(n, args.p.single(), entries);
  if (threadIdx.x == 0) write_divergence(args, b, x);
}

__global__ void __launch_bounds__(kWideThreads)
    wide_divergence_kernel(const __grid_constant__ DivergenceArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  for_sentences(
      static_cast<int>(args.p.size), [&](int b) { return args.wide[b] != 0; },
      [&](int b) {
        answer(args, b, memory, args.slots.data + blockIdx.x * args.slots.stride, facts);
      });
}

}  // namespace

void take_divergence_memory(Arena& arena, const Limits& limits, DivergenceArgs& args) {
  args.wide = arena.take<std::int32_t>(args.p.size);
  args.slots = take_wide_slots(arena, limits, args.p, 3);
}

void launch_divergence(const DivergenceArgs& args, void* stream) {
  if (args.p.size == 0) return;
  launch(&divergence_kernel, static_cast<unsigned>(args.p.size), kThreads,
         Support::bytes(args.p.max_n), stream, args);
  const auto blocks = std::min(args.p.size, static_cast<std::size_t>(args.slots.count));
  launch(&wide_divergence_kernel, static_cast<unsigned>(blocks), kWideThreads,
         wide_layout(args.p.max_n).bytes, stream, args);
}

}  // namespace taproot::cuda
