// SPDX-License-Identifier: Apache-2.0
//
// Scores in, answers out, one thread block a sentence: elimination and, where asked for, the
// reverse pass. The sampling and beam kernels begin in the same way.
#pragma once

#include "cuda/eliminate/layout.h"
#include "cuda/query/edges.cuh"
#include "cuda/query/gradient.cuh"
#include "cuda/query/inference.h"

namespace taproot::cuda {

/// The parts of a block's shared memory.
template <typename T>
struct Block {
  Vectors v;
  Work<T> w;

  __device__ Block(unsigned char* memory, const Layout& l, bool shared, T* matrix) {
    v.scale = reinterpret_cast<double*>(memory + l.scale);
    v.sums = reinterpret_cast<double*>(memory + l.sums);
    v.keys = reinterpret_cast<double*>(memory + l.keys);
    v.reduce = reinterpret_cast<double*>(memory + l.reduce);
    v.order = reinterpret_cast<int*>(memory + l.order);
    v.position = reinterpret_cast<int*>(memory + l.position);
    v.last = memory + l.last;
    w.pivot = reinterpret_cast<T*>(memory + l.pivot);
    w.dots = reinterpret_cast<T*>(memory + l.dots);
    w.part = reinterpret_cast<T*>(memory + l.part);
    w.part_e = reinterpret_cast<T*>(memory + l.part_e);
    w.matrix = shared ? reinterpret_cast<T*>(memory + l.matrix) : matrix;
    w.ld = l.ld;
  }
};

/// From scores to keys: all that comes before an order is chosen. False, with the outcome written,
/// if there is no answer. `weights` [n+1][n+1] is filled.
template <typename T>
__device__ inline bool prepare(const SentenceView& scores, int n, bool single, double* weights,
                               Block<T>& block, SentenceFacts& facts, DeviceOutcome* outcome) {
  const auto fail = [&](std::int32_t status, int head, int modifier) {
    if (threadIdx.x == 0) *outcome = {status, head, modifier};
    return false;
  };
  if (n < 1) return fail(kEmpty, -1, -1);
  choose_scales(scores, n, single, block.v, facts);
  if (facts.bad_cell != 0x7fffffff) {
    return fail(kBadScore, facts.bad_cell / (n + 1), facts.bad_cell % (n + 1));
  }
  find_last_words(scores, n, single, block.v, reinterpret_cast<std::uint32_t*>(block.w.matrix),
                  facts);
  if (facts.reaches == 0) return fail(kNoTree, -1, -1);
  fill_weights<T>(scores, n, weights, block.v, facts);
  find_keys(weights, n, single, block.v);
  return true;
}

template <typename T>
__device__ inline void write_marginals(const EdgeOutput& out, int b, int n, const double* weights,
                                       const Block<T>& block) {
  const EdgeTarget target(out, b, n);
  for (int h = warp_id(); h <= n; h += warp_count()) {
    const int column = block.v.position[h];
    for (int m = lane_id(); m <= n; m += kWarp) {
      double p = 0;
      if (m > 0 && m != h) {
        const std::int64_t row = block.v.position[m];
        const double g = static_cast<double>(block.w.matrix[row * block.w.ld + column]);
        p = weights[static_cast<std::int64_t>(h) * (n + 1) + m] * g;
      }
      target.write(h, m, p < 0 ? 0 : p);  // See docs/numerics.md.
    }
  }
}

template <typename T>
__device__ inline void write_gradient(double* to, int n, const Block<T>& block) {
  for (int m = 1 + warp_id(); m <= n; m += warp_count()) {
    for (int h = lane_id(); h <= n; h += kWarp) {
      const T g = block.w.matrix[static_cast<std::int64_t>(m) * block.w.ld + h];
      to[static_cast<std::int64_t>(m) * (n + 1) + h] = h == m ? 0.0 : static_cast<double>(g);
    }
  }
}

template <typename T>
__device__ inline void write_factors(const InferenceArgs& args, int b, int n, const double* weights,
                                     Block<T>& block) {
  const std::int64_t nodes = args.batch.max_n + 1;
  double* factors = args.factors + b * nodes * nodes;
  for (int m = 1 + warp_id(); m <= n; m += warp_count()) {
    for (int h = lane_id(); h <= n; h += kWarp) {
      factors[static_cast<std::int64_t>(m) * (n + 1) + h] =
          static_cast<double>(block.w.matrix[static_cast<std::int64_t>(m) * block.w.ld + h]);
    }
  }
  for (int p = static_cast<int>(threadIdx.x); p <= n; p += static_cast<int>(blockDim.x)) {
    args.order[b * nodes + p] = block.v.order[p];
    args.pivots[b * nodes + p] = p == 0 ? 0.0 : static_cast<double>(block.w.pivot[p]);
  }
  if (args.batch.single && args.root_law != nullptr && warp_id() == 0) {
    root_gradient(n, block.w, block.w.dots);
    for (int k = 1 + lane_id(); k <= n; k += kWarp) {
      const int word = block.v.order[k];
      args.root_law[b * nodes + word - 1] = weights[word] * static_cast<double>(block.w.dots[k]);
    }
  }
}

template <typename T, int kChunk, bool kShared>
__global__ void __launch_bounds__(kChunk >= 4 ? 512 : 128 * kChunk)
    inference_kernel(const __grid_constant__ InferenceArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  const int b = static_cast<int>(blockIdx.x);
  if (args.only != kEverySentence && args.outcomes[b].status != args.only) return;
  const int n = args.batch.n(b);
  const bool single = args.batch.single;
  const std::int64_t nodes = args.batch.max_n + 1;
  double* weights = args.weights + b * nodes * nodes;
  const Layout layout(n < 1 ? 1 : n, static_cast<int>(blockDim.x), kChunk, sizeof(T), kShared);
  Block<T> block(memory, layout, kShared,
                 kShared ? nullptr : static_cast<T*>(args.matrices) + b * args.matrix_stride);
  const SentenceView scores(args.batch, b, n);
  if (!prepare(scores, n, single, weights, block, facts, args.outcomes + b)) return;
  assign_positions(n, 0, block.v);
  gather(weights, n, 0, block.v, block.w);
  factor<T, kChunk>(n, single, block.w);
  const bool fits = finish(n, single, facts.root_sum, block.v, block.w, facts);
  if (threadIdx.x == 0) args.outcomes[b] = {fits ? kOk : kOutOfRange, -1, -1};
  if (!fits) return;
  if (threadIdx.x == 0 && args.log_z != nullptr) {
    args.log_z[b] = detail::log_scaled(facts.mantissa, facts.exponent + facts.total_scale);
  }
  if (args.factors != nullptr) {
    write_factors(args, b, n, weights, block);
    __syncthreads();
  }
  if (args.marginals.data == nullptr && args.gradient == nullptr) return;
  gradient<T, kChunk>(n, single, block.w);
  if (args.marginals.data != nullptr) write_marginals(args.marginals, b, n, weights, block);
  if (args.gradient != nullptr) write_gradient(args.gradient + b * nodes * nodes, n, block);
}

}  // namespace taproot::cuda
