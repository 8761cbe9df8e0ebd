// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/wide.h"

#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/query/wide.cuh"
#include "cuda/query/wide_divergence.cuh"

namespace taproot::cuda {
namespace {

using detail::Wide;

// More than this is not taken for slots, unless one sentence needs it.
constexpr std::int64_t kMostBytes = std::int64_t{32} << 20;

__device__ bool is_wide(const InferenceArgs& args, int b) {
  const std::int32_t status = args.summary.outcomes[b].status;
  if (args.eliminate) return status == kCudaOutOfRange;
  return status == kOk && args.summary.scalar[b] == kInWide;
}

__device__ bool wants_entropy(const InferenceArgs& args) {
  return args.reverse && (args.entropy.data != nullptr || args.summary.entropy != nullptr);
}

// p(0 -> m), single-root, by the first warp.
__device__ void write_wide_root_law(int n, const WideWeights& weight, WideBlock& block,
                                    double* root_law) {
  Work<Wide>& w = block.w;
  const auto row = [&](int m) { return w.matrix + static_cast<std::int64_t>(m) * w.ld; };
  root_gradient(n, row, w.pivot, w.dots);
  for (int k = 1 + lane_id(); k <= n; k += kWarp) {
    const int word = block.v.order[k];
    root_law[word - 1] = detail::nearest_probability((weight(0, word) * w.dots[k]).to_double());
  }
}

__device__ void answer(const InferenceArgs& args, int b, unsigned char* memory, Wide* slot,
                       SentenceFacts& facts) {
  const SentenceOutput out(args, b);
  const int n = out.n;
  WideBlock block(memory, wide_layout(n), slot, args.batch.max_n);
  Work<Wide>& w = block.w;
  eliminate_wide(args.batch, b, out.weights(), block, facts, out.outcome());
  const WideWeights weight{EdgeReader(args.batch, b, n), block.v.scale, facts.root_scale};
  if (threadIdx.x == 0) {
    *out.outcome() = {kOk, -1, -1};
    write_log_partition(args, b, facts, kInWide);
    args.summary.mantissa[b] = facts.mantissa;
    args.summary.exponent[b] = facts.exponent;
  }
  for (int p = static_cast<int>(threadIdx.x); p <= n; p += kWideThreads) {
    out.scale()[p] = p == 0 ? facts.root_scale : block.v.scale[p];
  }
  if (out.single() && warp_id() == 0) write_wide_root_law(n, weight, block, out.root_law());
  if (!args.reverse) return;
  __syncthreads();
  gradient<Wide, kWideChunk>(n, out.single(), w);
  const MarginalWriter writer(args, out, block.v.scale, facts.root_scale);
  for (int h = warp_id(); h <= n; h += kWideWarps) {
    for (int m = lane_id(); m <= n; m += kWarp) {
      double p = 0;
      if (m > 0 && m != h) {
        const std::int64_t row = block.v.position[m];
        p = (weight(h, m) * w.matrix[row * w.ld + block.v.position[h]]).to_double();
      }
      writer.write_probability(h, m, detail::nearest_probability(p));
    }
  }
  if (!wants_entropy(args)) return;
  __syncthreads();  // The entries overwrite the gradient.
  const WideEntries entries{block.matrix(0), block.matrix(1),
                            reinterpret_cast<double*>(block.matrix(2)), w.ld};
  for (int m = 1 + warp_id(); m <= n; m += kWideWarps) {
    for (int h = lane_id(); h <= n; h += kWarp) {
      const Wide edge = weight(block.v.order[h], block.v.order[m]);
      entries.set(h, m, {edge, edge, 0});
    }
  }
  __syncthreads();
  const double entropy =
      wide_divergence<detail::Divergence::kCrossEntropy>(n, out.single(), entries);
  if (threadIdx.x == 0) write_entropy(args, b, entropy);
}

__global__ void __launch_bounds__(kWideThreads)
    wide_kernel(const __grid_constant__ InferenceArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  for_sentences(
      static_cast<int>(args.batch.size), [&](int b) { return is_wide(args, b); },
      [&](int b) {
        answer(args, b, memory, args.wide.data + blockIdx.x * args.wide.stride, facts);
      });
}

}  // namespace

WideSlots take_wide_slots(Arena& arena, const Limits& limits, const Batch& batch, int matrices) {
  const std::int64_t nodes = batch.nodes();
  WideSlots slots;
  slots.stride = wide_rows(nodes) + matrices * wide_cells(nodes);
  const auto most = std::min(static_cast<std::int64_t>(batch.size),
                             static_cast<std::int64_t>(limits.multiprocessors));
  const auto each = slots.stride * static_cast<std::int64_t>(sizeof(Wide));
  slots.count = static_cast<int>(
      std::clamp(kMostBytes / each, std::int64_t{1}, std::max(most, std::int64_t{1})));
  slots.data = arena.take<Wide>(static_cast<std::size_t>(slots.count * slots.stride));
  return slots;
}

int wide_matrices(const InferenceArgs& args) {
  const bool entropy = args.entropy.data != nullptr || args.summary.entropy != nullptr;
  return args.reverse && entropy ? 3 : 1;
}

void launch_wide_inference(const InferenceArgs& args, void* stream) {
  if (args.batch.size == 0) return;
  const auto blocks = std::min(args.batch.size, static_cast<std::size_t>(args.wide.count));
  launch(&wide_kernel, static_cast<unsigned>(blocks), kWideThreads,
         wide_layout(args.batch.max_n).bytes, stream, args);
}

}  // namespace taproot::cuda
