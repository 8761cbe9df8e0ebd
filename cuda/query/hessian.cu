// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/hessian.h"

#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/core/sentences.cuh"
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

__device__ void answer(const HessianArgs& a, const Shared& shared, int b, unsigned char* memory,
                       double* per_warp) {
  const std::int32_t status = a.summary.outcomes[b].status;
  if (a.total && a.by_tangents == nullptr) complete_hessian(a, b, status);
  if (status != kOk || a.summary.scalar[b] != kInDouble) return;
  const int n = a.batch.n(b);
  const std::int64_t nodes = a.batch.nodes();
  const std::int64_t at = a.factors.at(b, nodes);
  const std::int64_t slot = nodes * nodes * blockIdx.x;
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
                                         a.gradient + nodes * nodes * b,
                                         a.values + slot,
                                         a.tangent + slot,
                                         a.gradient_tangent + slot};
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
  write_hessian(first, second, rows, scale * a.factor, target, [&] {
    if (!in_turns) return;
    copy(n, first.tangent, s.tangent);
    copy(n, s.gradient, place(1));
    __syncthreads();
  });
}

__global__ void __launch_bounds__(kMostThreads)
    hessian_kernel(const __grid_constant__ HessianArgs a, Shared shared) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[kMostWarps];
  for_sentences(
      static_cast<int>(a.batch.size),
      [&](int b) { return a.by_tangents == nullptr || a.by_tangents[b] != 0; },
      [&](int b) { answer(a, shared, b, memory, per_warp); });
}

int threads_of(int n) { return n < 32 ? 128 : n < 64 ? 256 : kMostThreads; }

Shared shared_of(int n, std::size_t most_shared) {
  const auto fits = [&](const Shared& shared) {
    return shared.doubles(n) * sizeof(double) <= most_shared;
  };
  // Short sentences leave their values in global memory, so that more of them fit at once.
  Shared shared{threads_of(n) / kWarp, n < 32 ? kMatrices - 1 : kMatrices};
  for (const int fewer : {kMatrices - 1, 2, 0}) {
    if (!fits(shared)) shared.matrices = std::min(shared.matrices, fewer);
  }
  while (shared.parts > 1 && !fits(shared)) --shared.parts;
  return shared;
}

}  // namespace

int hessian_slots(const Batch& batch, const Limits& limits) {
  const std::size_t bytes =
      shared_of(batch.max_n, limits.most_shared).doubles(batch.max_n) * sizeof(double);
  const auto threads = static_cast<std::size_t>(threads_of(batch.max_n));
  const std::size_t blocks = std::clamp<std::size_t>(limits.most_shared / bytes, 1, 2048 / threads);
  return static_cast<int>(
      std::min(batch.size, blocks * static_cast<std::size_t>(limits.multiprocessors)));
}

void launch_hessian(const HessianArgs& args, const Limits& limits, void* stream) {
  if (args.batch.size == 0) return;
  const int n = args.batch.max_n;
  const Shared shared = shared_of(n, limits.most_shared);
  launch(&hessian_kernel, static_cast<unsigned>(args.slots), static_cast<unsigned>(threads_of(n)),
         shared.doubles(n) * sizeof(double), stream, args, shared);
}

}  // namespace taproot::cuda
