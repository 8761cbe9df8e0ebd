// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/log_prob.h"

#include <algorithm>
#include <cmath>

#include "core/ln2.h"
#include "core/probability.h"
#include "cuda/core/launch.h"
#include "cuda/core/warp.cuh"
#include "query/exact_log_prob.h"

namespace taproot::cuda {
namespace {

constexpr int kMostWarps = 8;
constexpr std::size_t kMostShared = 48 << 10;
constexpr unsigned kMostBlocks = 1024;  // Per sentence; beyond that, warps take several trees.

// Whether the heads in `node` are a tree, by one warp. After r rounds node[m] is 2^r steps above m,
// or ROOT. A word on a cycle, or below one, never leads to ROOT.
__device__ bool is_tree(std::uint16_t* node, std::uint16_t* above, int n, bool single) {
  int roots = 0;
  for (int m = 1 + lane_id(); m <= n; m += kWarp) roots += node[m] == 0 ? 1 : 0;
  roots = warp_sum(roots);
  if (roots == 0 || (single && roots > 1)) return false;
  for (int reach = 1; reach < n; reach *= 2) {
    for (int m = lane_id(); m <= n; m += kWarp) above[m] = node[node[m]];
    __syncwarp();
    std::uint16_t* last = node;
    node = above;
    above = last;
  }
  bool up = true;
  for (int m = 1 + lane_id(); m <= n; m += kWarp) up = up && node[m] == 0;
  return __all_sync(kAllLanes, up);
}

// Whether no two edges of a tree cross, by one warp. ROOT is at one end, so that the tree is then
// projective.
__device__ bool is_projective(const std::int32_t* heads, int n) {
  bool crosses = false;
  for (int a = 1 + lane_id(); a <= n; a += kWarp) {
    const int low = min(a, heads[a - 1]);
    const int high = max(a, heads[a - 1]);
    for (int b = 1; b <= n; ++b) {
      const int other = heads[b - 1];
      crosses |= low < min(b, other) && min(b, other) < high && high < max(b, other);
    }
  }
  return __all_sync(kAllLanes, !crosses);
}

// log p of a tree of a sentence beyond the range of double, whose scores may be large.
__device__ double exact_log_prob(const LogProbArgs& args, int b, int n, const EdgeReader& scores,
                                 const double* scale, const std::int32_t* heads) {
  detail::ExactLogProb sum(args.summary.exponent[b]);
  for (int m = 1; m <= n; ++m) {
    const int h = heads[m - 1];
    const double score = scores(h, m);
    if (score == -HUGE_VAL) return score;
    sum.add_score(score);
    sum.add_scale(scale[m] + (h == 0 ? scale[0] : 0.0));
  }
  return sum.value(args.summary.mantissa[b]);
}

// The trees of a sentence that has none.
__device__ void answer_failure(const LogProbArgs& args, int b) {
  const int threads = static_cast<int>(gridDim.y * blockDim.x);
  for (int s = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x); s < args.trees;
       s += threads) {
    args.out.data[b * args.out.sentence_stride + s * args.out.tree_stride] = NAN;
  }
}

// One warp per tree.
__global__ void log_prob_kernel(const __grid_constant__ LogProbArgs args) {
  extern __shared__ std::uint16_t nodes[];
  const int b = static_cast<int>(blockIdx.x);
  if (args.summary.outcomes[b].status != kOk) {
    if (args.total) answer_failure(args, b);
    return;
  }
  const int n = args.batch.n(b);
  const EdgeReader scores(args.batch, b, n);
  const double* scale = args.summary.scale + b * args.batch.nodes();
  std::uint16_t* node = nodes + warp_id() * 2 * args.batch.nodes();
  const int warps = static_cast<int>(gridDim.y) * warp_count();
  for (int s = static_cast<int>(blockIdx.y) * warp_count() + warp_id(); s < args.trees;
       s += warps) {
    const std::int32_t* heads =
        args.heads.heads + b * args.heads.sentence_stride + s * args.heads.tree_stride;
    double total = 0;
    bool heads_exist = true;
    for (int m = 1 + lane_id(); m <= n; m += kWarp) {
      const int h = heads[m - 1];
      const bool exists = h >= 0 && h <= n && h != m;
      heads_exist = heads_exist && exists;
      node[m] = static_cast<std::uint16_t>(exists ? h : 0);
      if (!exists) continue;
      total += detail::minus_k_ln2(scores(h, m), scale[m] + (h == 0 ? scale[0] : 0.0));
    }
    if (lane_id() == 0) node[0] = 0;
    __syncwarp();
    heads_exist = __all_sync(kAllLanes, heads_exist);
    total = warp_sum(total);
    double result = -HUGE_VAL;
    if (heads[0] == -1) {
      result = NAN;
    } else if (heads_exist && is_tree(node, node + args.batch.nodes(), n, args.batch.single()) &&
               (args.batch.family == TreeFamily::kAll || is_projective(heads, n))) {
      const double log_p = args.summary.scalar[b] == kInWide
                               ? exact_log_prob(args, b, n, scores, scale, heads)
                               : total - args.summary.scaled_log_partition[b];
      result = detail::nearest_log_probability(log_p);
    }
    if (lane_id() == 0) {
      args.out.data[b * args.out.sentence_stride + s * args.out.tree_stride] = result;
    }
    __syncwarp();
  }
}

// One block per sentence.
__global__ void slope_kernel(const __grid_constant__ LogProbArgs args,
                             const __grid_constant__ CudaEdges marginals) {
  const int b = static_cast<int>(blockIdx.x);
  const int n = args.batch.n(b);
  if (n < 0 || n > args.batch.max_n) return;  // All NaN.
  const std::int32_t* heads = args.heads.heads + b * args.heads.sentence_stride;
  const double log_p = args.out.data[b * args.out.sentence_stride];
  const EdgeReader p(marginals, b, n);
  const EdgeWriter slope(marginals, b, n);
  for (int h = warp_id(); h <= n; h += warp_count()) {
    for (int m = lane_id(); m <= n; m += kWarp) {
      const double edge = m > 0 && heads[m - 1] == h ? 1.0 : 0.0;
      slope.write(h, m, isnan(log_p) ? NAN : isinf(log_p) ? 0.0 : edge - p(h, m));
    }
  }
}

}  // namespace

void launch_slope_of_tree(const LogProbArgs& args, const CudaEdges& marginals, void* stream) {
  if (args.batch.size == 0 || args.trees == 0 || marginals.data == nullptr) return;
  const unsigned threads = args.batch.max_n < 32 ? 128 : 512;
  launch(&slope_kernel, static_cast<unsigned>(args.batch.size), threads, 0, stream, args,
         marginals);
}

void launch_log_prob(const LogProbArgs& args, void* stream) {
  if (args.batch.size == 0 || args.trees == 0) return;
  const std::size_t each = static_cast<std::size_t>(args.batch.nodes()) * 2 * sizeof(std::uint16_t);
  const auto warps = static_cast<int>(
      std::clamp(kMostShared / each, std::size_t{1}, static_cast<std::size_t>(kMostWarps)));
  const auto blocks =
      std::min(static_cast<unsigned>((args.trees + warps - 1) / warps), kMostBlocks);
  launch(&log_prob_kernel, dim3(static_cast<unsigned>(args.batch.size), blocks),
         static_cast<unsigned>(warps * kWarp), static_cast<std::size_t>(warps) * each, stream,
         args);
}

}  // namespace taproot::cuda
