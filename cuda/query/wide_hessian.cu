// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/query/hessian.cuh"
#include "cuda/query/hessian.h"
#include "cuda/query/wide.cuh"

namespace taproot::cuda {
namespace {

using detail::Wide;

__device__ bool is_wide(const HessianArgs& args, int b) {
  const std::int32_t status = args.summary.outcomes[b].status;
  // Eliminated for the Hessian alone, such a sentence is out of range; kept, it is ok.
  return status == kCudaOutOfRange || (status == kOk && args.summary.scalar[b] == kInWide);
}

__device__ void answer(const HessianArgs& args, int b, unsigned char* memory, Wide* slot,
                       SentenceFacts& facts, double* per_warp, Wide* wide_per_warp) {
  const Batch& batch = args.batch;
  const int n = batch.n(b);
  const std::int64_t nodes = batch.nodes();
  WideBlock block(memory, wide_layout(n), slot, batch.max_n);
  Work<Wide>& w = block.w;
  double* weights = args.factors.weights + args.factors.at(b, nodes);
  eliminate_wide(batch, b, weights, block, facts, args.summary.outcomes + b);
  Wide* factors = block.matrix(1);  // The reverse pass overwrites the first.
  for (int m = 1 + warp_id(); m <= n; m += kWideWarps) {
    const std::int64_t row = static_cast<std::int64_t>(m) * w.ld;
    for (int h = lane_id(); h <= n; h += kWarp) factors[row + h] = w.matrix[row + h];
  }
  __syncthreads();
  gradient<Wide, kWideChunk>(n, batch.single(), w);
  const EdgeReader scores(batch, b, n);
  const HessianSentence<Wide, WideWeights> s{n,
                                             batch.single() ? 1 : 0,
                                             w.ld,
                                             {scores, block.v.scale, facts.root_scale},
                                             factors,
                                             w.pivot,
                                             block.v.order,
                                             block.v.position,
                                             w.matrix,
                                             reinterpret_cast<double*>(block.matrix(4)),
                                             block.matrix(2),
                                             block.matrix(3)};
  const auto vector = [&](int i) { return block.vectors + i * nodes; };
  const HessianRows<Wide> rows{vector(0), vector(1), vector(2),  vector(3),
                               vector(4), vector(5), kWideWarps, wide_per_warp};
  const EdgeWriter target(args.out, b, n);
  const double scale = load_values(scores, EdgeReader(args.direction, b, n), s, weights, per_warp,
                                   reinterpret_cast<std::uint8_t*>(block.v.keys));
  if (!(scale > 0)) return fill_hessian(n, scale, target);
  write_hessian(s, s, rows, scale * args.factor, target, [] {});
}

__global__ void __launch_bounds__(kWideThreads)
    wide_hessian_kernel(const __grid_constant__ HessianArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  __shared__ double per_warp[kWideWarps];
  __shared__ double wide_per_warp[2 * kWideWarps];
  for_sentences(
      static_cast<int>(args.batch.size), [&](int b) { return is_wide(args, b); },
      [&](int b) {
        answer(args, b, memory, args.wide.data + blockIdx.x * args.wide.stride, facts, per_warp,
               reinterpret_cast<Wide*>(wide_per_warp));
      });
}

}  // namespace

void launch_wide_hessian(const HessianArgs& args, void* stream) {
  if (args.batch.size == 0) return;
  const auto blocks = std::min(args.batch.size, static_cast<std::size_t>(args.wide.count));
  launch(&wide_hessian_kernel, static_cast<unsigned>(blocks), kWideThreads,
         wide_layout(args.batch.max_n).bytes, stream, args);
}

}  // namespace taproot::cuda
