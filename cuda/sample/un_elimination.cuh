// SPDX-License-Identifier: Apache-2.0
//
// Trees whose walk was given up, by un-elimination: the source text of the host, one thread per
// tree.
#pragma once

#include "core/random.h"
#include "cuda/core/warp.cuh"
#include "cuda/sample/sample.h"
#include "cuda/sample/walk.cuh"
#include "sample/un_elimination/un_eliminate-inl.h"

namespace taproot::cuda {

inline constexpr int kFallbackThreads = 64;
inline constexpr int kFallbackBlocks = 264;

/// Scratch memory of one thread, in doubles. Per node, a thread keeps three doubles for the column
/// of the given root, one double for a weight, and five 32-bit integers.
TAPROOT_HOST_DEVICE inline std::int64_t fallback_scratch(int max_n) {
  return 4 * (max_n + 2) + (5 * (max_n + 2) + 1) / 2;
}

/// Writes shares[h][l] = A[h][l] / pivot_l and direct[m][h], by position, for the sentences in
/// which a walk was given up.
__global__ void fallback_tables_kernel(SampleArgs args) {
  const int b = static_cast<int>(blockIdx.x);
  if (args.summary.outcomes[b].status != kOk || args.given_up[b] == 0) return;
  const int n = args.batch.n(b);
  const std::int64_t nodes = args.batch.max_n + 1;
  const double* factors = args.factors.factors + args.factors.at(b, nodes);
  const double* pivots = args.factors.pivots + b * nodes;
  const double* weights = args.factors.weights + args.factors.at(b, nodes);
  const std::int32_t* order = args.factors.order + b * nodes;
  for (int i = static_cast<int>(threadIdx.x); i < (n + 1) * (n + 1);
       i += static_cast<int>(blockDim.x)) {
    const int h = i / (n + 1);
    const int l = i % (n + 1);
    args.shares[b * nodes * nodes + i] =
        l > h && l >= 2 ? factors[static_cast<std::int64_t>(l) * (n + 1) + h] / pivots[l] : 0.0;
    const int m = h;  // Row of the other table.
    args.direct[b * nodes * nodes + i] =
        m == 0 ? 0.0 : weights[static_cast<std::int64_t>(order[l]) * (n + 1) + order[m]];
  }
}

__global__ void __launch_bounds__(kFallbackThreads) fallback_kernel(SampleArgs args) {
  using namespace detail;
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (thread == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(args.counter),
              static_cast<unsigned long long>(*args.list_size));
  }
  const std::int64_t nodes = args.batch.max_n + 1;
  double* own = args.scratch + thread * fallback_scratch(args.batch.max_n);
  for (int i = thread; i < *args.list_size; i += static_cast<int>(gridDim.x * blockDim.x)) {
    const auto b = static_cast<int>(args.list[i] / args.trees);
    const auto s = static_cast<int>(args.list[i] % args.trees);
    const int root_word = args.list_root[i];
    const int n = args.batch.n(b);
    const auto ld = static_cast<std::size_t>(n) + 1;
    const std::int64_t at = b * nodes * nodes;
    const EliminationTables<double> tables{n,
                                           args.batch.root,
                                           ld,
                                           args.factors.factors + args.factors.at(b, nodes),
                                           args.factors.pivots + b * nodes,
                                           args.shares + at,
                                           args.direct + at,
                                           nullptr,
                                           0};
    const std::int32_t* order = args.factors.order + b * nodes;
    double* into = own;
    double* share = own + nodes + 1;
    double* direct = own + 2 * (nodes + 1);
    for (int k = 0; k <= n; ++k) {
      into[k] = share[k] = 0;
      direct[k] = k > 0 && (root_word == 0 || order[k] == root_word) ? tables.direct(0, k) : 0.0;
      // Any weight of the root's own edge would do, as long as there is one.
      if (root_word != 0 && k > 0 && order[k] == root_word && !(direct[k] > 0)) direct[k] = 1;
    }
    eliminate_root_row(tables, direct, into, share);
    auto* integers = reinterpret_cast<std::int32_t*>(own + 4 * (nodes + 1));
    UnEliminationScratch<double> scratch{
        integers,
        integers + (nodes + 1),
        integers + 2 * (nodes + 1),
        integers + 3 * (nodes + 1),
        reinterpret_cast<std::uint8_t*>(integers + 4 * (nodes + 1)),
        own + 3 * (nodes + 1)};
    PlainStream stream(stream_key(args.seed, args.batch.id(b)),
                       args.first_tree + static_cast<std::uint32_t>(s), Purpose::kFallback);
    device::PlainChooser<double, PlainStream> chooser(stream);
    const RootColumn<double> root{into, share, direct};
    device::UnElimination<double, device::PlainChooser<double, PlainStream>>(tables, root, chooser,
                                                                             scratch)
        .run();
    std::int32_t* out = args.out.heads + b * args.out.sentence_stride + s * args.out.tree_stride;
    for (int k = 1; k <= n; ++k) out[order[k] - 1] = order[scratch.head[k]];
  }
}

}  // namespace taproot::cuda
