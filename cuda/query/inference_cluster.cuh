// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/eliminate/cluster.cuh"
#include "cuda/query/inference.cuh"

namespace taproot::cuda {

/// As inference_kernel, by a cluster of blocks per sentence. Each block prepares the whole
/// sentence, which is little beside the rest, and then works on its own rows.
template <typename T, int kChunk>
__global__ void __launch_bounds__(512)
    inference_cluster_kernel(const __grid_constant__ InferenceArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  const auto group = cooperative_groups::this_cluster();
  const int size = static_cast<int>(group.num_blocks());
  const int b = static_cast<int>(blockIdx.x) / size;
  // All blocks must have read the status before one of them writes it.
  const std::int32_t before = args.summary.outcomes[b].status;
  group.sync();
  if (!wanted<T>(args, b, before)) return;
  const SentenceOutput out(args, b);
  const int n = out.n;
  const std::int64_t nodes = args.batch.nodes();
  // By the longest sentence, so that the parts are at the same place in all blocks.
  const Layout layout(args.batch.max_n, static_cast<int>(blockDim.x), kChunk, sizeof(T), true,
                      size);
  Block<T> block(memory, layout, true, nullptr);
  Work<T>& w = block.w;
  const Cluster<T> cluster{static_cast<int>(group.block_rank()),
                           size,
                           {reinterpret_cast<T*>(memory + layout.row),
                            reinterpret_cast<T*>(memory + layout.row) + nodes},
                           reinterpret_cast<T*>(memory + layout.slots),
                           reinterpret_cast<T*>(memory + layout.slots_e)};
  const bool leads = cluster.rank == 0;
  if (args.total && args.only == kEverySentence && leads) fill_marginals(args, b, n, true, 0);
  const int first_row = cluster.rank + size * warp_id();
  const int row_step = size * warp_count();
  if (args.eliminate) {
    const EdgeReader scores(args.batch, b, n);
    if (!prepare(scores, n, args.batch.max_n, out.single(), out.weights(), block, facts,
                 out.outcome())) {
      if (args.total && leads) answer_failure(args, b, n);
      return;
    }
    assign_positions(n, 0, block.v);
    gather(out.weights(), n, block.v, cluster, w);
    factor<T, kChunk>(n, out.single(), cluster, w);
    const bool fits = finish(n, out.single(), facts.root_sum, block.v, w, facts);
    if (threadIdx.x == 0) *out.outcome() = {fits ? kOk : kCudaOutOfRange, -1, -1};
    if (!fits) return;
    if (leads) write_summary(args, out, block, facts);
    if (out.has_factors()) {
      for (int m = first_row; m <= n; m += row_step) {
        if (m > 0) write_row(cluster.own_row(w, m), m, n, out.factors());
      }
      cluster.sync();
      if (out.single() && leads && warp_id() == 0) {
        const auto row = [&](int m) { return cluster.at(cluster.own_row(w, m), cluster.owner(m)); };
        write_root_law(n, row, w, out.weights(), block.v.order, out.root_law());
      }
      cluster.sync();  // The other blocks' rows are read until here.
    }
  } else {
    read_summary(out, block, facts);
    for (int m = first_row; m <= n; m += row_step) {
      if (m > 0) read_row(out.factors(), m, n, cluster.own_row(w, m));
    }
    __syncthreads();
  }
  if (!args.reverse) return;
  gradient<T, kChunk>(n, out.single(), cluster, w);
  // The columns of its own words.
  const MarginalWriter writer(args, out, block.v.scale, facts.root_scale);
  double mean_score = 0;
  for (int m = first_row; m <= n; m += row_step) {
    const T* row = cluster.own_row(w, m);
    const int word = block.v.order[m];
    double sum = 0;
    for (int h = lane_id(); h <= n; h += kWarp) {
      sum += writer.write(h, word, static_cast<double>(row[block.v.position[h]]));
    }
    mean_score += sum;
  }
  mean_score = sum_of_threads(mean_score, block.v.reduce);
  // The sums of all blocks come together in the first, where the keys are not needed any more.
  if (threadIdx.x == 0) group.map_shared_rank(block.v.keys, 0)[cluster.rank] = mean_score;
  cluster.sync();
  if (leads && threadIdx.x == 0) {
    double total = 0;
    for (int r = 0; r < size; ++r) total += block.v.keys[r];
    write_entropy(args, b, args.summary.scaled_log_partition[b] - total);
  }
#endif
}

}  // namespace taproot::cuda
