// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/hessian.h"

#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/query/hessian.cuh"

namespace taproot::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarp;
constexpr int kVectors = 3;

struct KeptWeights {
  const double* weights;
  int side;
  __device__ double operator()(int h, int m) const {
    return weights[static_cast<std::int64_t>(h) * side + m];
  }
};

__global__ void __launch_bounds__(kThreads)
    hessian_kernel(const __grid_constant__ HessianArgs a, int parts) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[kWarps];
  const int b = static_cast<int>(blockIdx.x);
  if (a.summary.outcomes[b].status != kOk || a.summary.scalar[b] != kInDouble) return;
  const int n = a.batch.n(b);
  const std::int64_t nodes = a.batch.nodes();
  const std::int64_t at = a.factors.at(b, nodes);
  const std::int64_t square = nodes * nodes * b;
  HessianRows<double> rows{};
  rows.share = reinterpret_cast<double*>(memory);
  rows.dshare = rows.share + n + 1;
  rows.dpivot = rows.dshare + n + 1;
  rows.part = rows.dpivot + n + 1;
  rows.parts = parts;
  rows.per_warp = per_warp;
  // The inverse of the order is needed no longer when the sums take its memory.
  auto* position = reinterpret_cast<std::int32_t*>(rows.part);
  const double* weights = a.factors.weights + at;
  const HessianSentence<double, KeptWeights> s{n,
                                               a.batch.single() ? 1 : 0,
                                               n + 1,
                                               {weights, n + 1},
                                               a.factors.factors + at,
                                               a.factors.pivots + nodes * b,
                                               a.factors.order + nodes * b,
                                               position,
                                               a.gradient + square,
                                               a.values + square,
                                               a.tangent + square,
                                               a.gradient_tangent + square};
  for (int p = static_cast<int>(threadIdx.x); p <= n; p += kThreads) position[s.order[p]] = p;
  const EdgeWriter target(a.out, b, n);
  const double scale = load_values(EdgeReader(a.batch, b, n), EdgeReader(a.direction, b, n), s,
                                   weights, per_warp, reinterpret_cast<std::uint8_t*>(rows.share));
  if (!(scale > 0)) return fill_hessian(n, scale, target);
  write_hessian(s, rows, scale, target);
}

std::size_t bytes_of(int max_n, int parts) {
  return sizeof(double) * static_cast<std::size_t>(kVectors + parts) *
         (static_cast<std::size_t>(max_n) + 1);
}

}  // namespace

void launch_hessian(const HessianArgs& args, std::size_t most_shared, void* stream) {
  if (args.batch.size == 0) return;
  int parts = kWarps;  // How many warps of a block share the rows, each with a vector of its own.
  while (parts > 1 && bytes_of(args.batch.max_n, parts) > most_shared) --parts;
  launch(&hessian_kernel, static_cast<unsigned>(args.batch.size), kThreads,
         bytes_of(args.batch.max_n, parts), stream, args, parts);
}

}  // namespace taproot::cuda
