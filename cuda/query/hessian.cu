// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/hessian.h"

#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/query/hessian.cuh"

namespace taproot::cuda {
namespace {

constexpr int kMostThreads = 512;
constexpr int kMostWarps = kMostThreads / kWarp;
constexpr int kVectors = 5;
constexpr int kMatrices = 5;

struct KeptWeights {
  const double* weights;
  int side;
  __device__ double operator()(int h, int m) const {
    return weights[static_cast<std::int64_t>(h) * side + m];
  }
};

/// What a block has in shared memory: vectors, and as many of the matrices as fit.
struct Shared {
  int parts;     ///< How many warps share the rows, each with a vector of its own.
  int matrices;  ///< All 5; all but the values; 2, those that a pass needs most; or none.

  TAPROOT_HOST_DEVICE std::size_t doubles(int n) const {
    const auto nodes = static_cast<std::size_t>(n) + 1;
    return nodes * static_cast<std::size_t>(kVectors + parts) +
           nodes * nodes * static_cast<std::size_t>(matrices);
  }
};

/// A copy of a matrix that is only read, for the block's own use.
__device__ void copy(int n, const double* from, double* to) {
  for (int i = static_cast<int>(threadIdx.x); i < (n + 1) * (n + 1);
       i += static_cast<int>(blockDim.x)) {
    to[i] = from[i];
  }
}

__global__ void __launch_bounds__(kMostThreads)
    hessian_kernel(const __grid_constant__ HessianArgs a, Shared shared) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[kMostWarps];
  const int b = static_cast<int>(blockIdx.x);
  const std::int32_t status = a.summary.outcomes[b].status;
  if (a.total) complete_hessian(a, b, status);
  if (status != kOk || a.summary.scalar[b] != kInDouble) return;
  const int n = a.batch.n(b);
  const std::int64_t nodes = a.batch.nodes();
  const std::int64_t at = a.factors.at(b, nodes);
  const std::int64_t square = nodes * nodes * b;
  HessianRows<double> rows{};
  rows.share = reinterpret_cast<double*>(memory);
  rows.dshare = rows.share + n + 1;
  rows.dpivot = rows.dshare + n + 1;
  rows.out = rows.dpivot + n + 1;
  rows.moved = rows.out + n + 1;
  rows.part = rows.moved + n + 1;
  rows.parts = shared.parts;
  rows.per_warp = per_warp;
  double* const matrices = rows.part + shared.parts * (n + 1);
  const auto place = [&](int number) { return matrices + number * (n + 1) * (n + 1); };
  // The inverse of the order is needed no longer when the sums take its memory.
  auto* position = reinterpret_cast<std::int32_t*>(rows.part);
  const double* weights = a.factors.weights + at;
  HessianSentence<double, KeptWeights> s{n,
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
  HessianSentence<double, KeptWeights> first = s;
  if (shared.matrices > 0) {
    first.tangent = place(0);
    copy(n, s.factors, place(1));
    first.factors = place(1);
  }
  if (shared.matrices >= kMatrices - 1) {
    copy(n, s.gradient, place(2));
    s.gradient = place(2);
    s.gradient_tangent = place(3);
    s.tangent = first.tangent;
    s.factors = first.factors;
  }
  if (shared.matrices == kMatrices) s.values = place(4);
  first.values = s.values;
  for (int p = static_cast<int>(threadIdx.x); p <= n; p += static_cast<int>(blockDim.x)) {
    position[s.order[p]] = p;
  }
  const EdgeWriter target(a.out, b, n);
  const double scale = load_values(EdgeReader(a.batch, b, n), EdgeReader(a.direction, b, n), s,
                                   weights, per_warp, reinterpret_cast<std::uint8_t*>(rows.share));
  if (!(scale > 0)) return fill_hessian(n, scale, target);
  HessianSentence<double, KeptWeights> second = s;
  const bool in_turns = shared.matrices == 2;
  if (in_turns) {  // The tangents make room for the gradient and its tangents.
    second.gradient = place(1);
    second.gradient_tangent = place(0);
  }
  write_hessian(first, second, rows, scale, target, [&] {
    if (!in_turns) return;
    copy(n, first.tangent, s.tangent);
    copy(n, s.gradient, place(1));
    __syncthreads();
  });
}

}  // namespace

void launch_hessian(const HessianArgs& args, std::size_t most_shared, void* stream) {
  if (args.batch.size == 0) return;
  const int n = args.batch.max_n;
  const int threads = n < 32 ? 128 : n < 64 ? 256 : kMostThreads;
  const auto fits = [&](const Shared& shared) {
    return shared.doubles(n) * sizeof(double) <= most_shared;
  };
  // Short sentences leave their values in global memory, so that more of them fit at once.
  Shared shared{threads / kWarp, n < 32 ? kMatrices - 1 : kMatrices};
  for (const int fewer : {kMatrices - 1, 2, 0}) {
    if (!fits(shared)) shared.matrices = std::min(shared.matrices, fewer);
  }
  while (shared.parts > 1 && !fits(shared)) --shared.parts;
  launch(&hessian_kernel, static_cast<unsigned>(args.batch.size), static_cast<unsigned>(threads),
         shared.doubles(n) * sizeof(double), stream, args, shared);
}

}  // namespace taproot::cuda
