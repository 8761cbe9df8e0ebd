// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/eliminate/cluster.cuh"
#include "cuda/query/inference.cuh"

namespace taproot::cuda {

/// log Z and marginals by a cluster of blocks. All of them prepare the whole sentence, which is
/// little beside the rest, and then go on with their rows.
template <typename T, int kChunk>
__global__ void __launch_bounds__(512)
    inference_cluster_kernel(const __grid_constant__ InferenceArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  const auto group = cooperative_groups::this_cluster();
  const int size = static_cast<int>(group.num_blocks());
  const int b = static_cast<int>(blockIdx.x) / size;
  // All blocks read the outcome before one writes it.
  const std::int32_t before = args.outcomes[b].status;
  group.sync();
  if (args.only != kEverySentence && before != args.only) return;
  const int n = args.batch.n(b);
  const bool single = args.batch.single;
  const std::int64_t nodes = args.batch.max_n + 1;
  double* weights = args.weights + b * nodes * nodes;
  // By the longest sentence: the parts must be at the same place in all blocks, and are.
  const Layout layout(args.batch.max_n, static_cast<int>(blockDim.x), kChunk, sizeof(T), true,
                      size);
  Block<T> block(memory, layout, true, nullptr);
  const Cluster<T> cluster{static_cast<int>(group.block_rank()),
                           size,
                           {reinterpret_cast<T*>(memory + layout.row),
                            reinterpret_cast<T*>(memory + layout.row) + nodes},
                           reinterpret_cast<T*>(memory + layout.slots),
                           reinterpret_cast<T*>(memory + layout.slots_e)};
  const SentenceView scores(args.batch, b, n);
  if (!prepare(scores, n, single, weights, block, facts, args.outcomes + b)) return;
  assign_positions(n, 0, block.v);
  gather(weights, n, block.v, cluster, block.w);
  factor<T, kChunk>(n, single, cluster, block.w);
  const bool fits = finish(n, single, facts.root_sum, block.v, block.w, facts);
  if (threadIdx.x == 0) args.outcomes[b] = {fits ? kOk : kOutOfRange, -1, -1};
  if (!fits) return;
  if (threadIdx.x == 0 && cluster.rank == 0 && args.log_z != nullptr) {
    args.log_z[b] = detail::log_scaled(facts.mantissa, facts.exponent + facts.total_scale);
  }
  if (args.marginals.data == nullptr) return;
  gradient<T, kChunk>(n, single, cluster, block.w);
  // The columns of its own words.
  const EdgeOutput& out = args.marginals;
  const EdgeTarget target(out, b, n);
  for (int m = cluster.rank + size * warp_id(); m <= n; m += size * warp_count()) {
    const T* row = cluster.own_row(block.w, m);
    const int word = block.v.order[m];
    for (int h = lane_id(); h <= n; h += kWarp) {
      double p = 0;
      if (m > 0 && h != word) {
        p = weights[static_cast<std::int64_t>(h) * (n + 1) + word] *
            static_cast<double>(row[block.v.position[h]]);
      }
      target.write(h, word, p < 0 ? 0 : p);
    }
  }
#endif
}

}  // namespace taproot::cuda
