// SPDX-License-Identifier: Apache-2.0
//
// Trees that were given up, by un-elimination: the source text of the host, one warp per tree.
// Lane 0 runs it. Whenever it chooses among weights, it leaves a question in shared memory, and the
// other 31 lanes scan the weights for it.
#pragma once

#include "core/random.h"
#include "cuda/core/heads.cuh"
#include "cuda/core/warp.cuh"
#include "cuda/sample/sample.h"
#include "sample/un_elimination/un_eliminate-inl.h"

namespace taproot::cuda {

inline constexpr int kFallbackWarps = 4;  ///< Per block.
inline constexpr int kFallbackBlocks = 264;

/// Scratch memory of one warp, in doubles. Per node, a warp keeps three doubles for the column of
/// the given root, one double for a weight, and five 32-bit integers.
TAPROOT_HOST_DEVICE inline std::int64_t fallback_scratch(int max_n) {
  return 4 * (max_n + 2) + (5 * (max_n + 2) + 1) / 2;
}

/// What lane 0 of a warp asks: the first i in [begin, end) at which running + the sum of the
/// weights up to i exceeds the target, or the last one of positive weight if rounding leaves none.
/// The weights are a[i], or a[i] b[i] if there is a b.
struct Question {
  const double* a;
  const double* b;
  double running;
  double target;
  int begin;
  int end;
  int answer;
  bool is_last;  ///< Nothing is asked, and nothing will be.
};

/// The chooser of un_eliminate-inl.h on lane 0.
class AskingChooser {
 public:
  __device__ AskingChooser(detail::PlainStream& stream, Question& question)
      : stream_(stream), question_(question) {}

  __device__ int pick_head(const detail::EliminationTables<double>& t, int k, int begin) {
    return pick(t.into(k), begin, k, t.pivot(k));
  }
  __device__ int pick(const double* weights, int begin, int end, double total) {
    return ask(weights, nullptr, 0, stream_.uniform() * total, begin, end);
  }
  __device__ int pick_term(double direct, const double* a, const double* b, int begin, int end,
                           double total) {
    const double target = stream_.uniform() * total;
    return target < direct ? -1 : ask(a, b, direct, target, begin, end);
  }

 private:
  __device__ int ask(const double* a, const double* b, double running, double target, int begin,
                     int end) {
    question_ = {a, b, running, target, begin, end, -1, false};
    __syncwarp();  // The question is there,
    __syncwarp();  // and so is its answer.
    return question_.answer;
  }

  detail::PlainStream& stream_;
  Question& question_;
};

/// Lanes 1 to 31: answers one question. Each lane adds up four weights, the lanes' sums are added
/// up by shuffles, and the lane in which the target lies looks for it.
__device__ inline int answer(const Question& q) {
  constexpr unsigned kLanes = kAllLanes & ~1u;
  constexpr int kPerLane = 4;
  constexpr int kAtOnce = (kWarp - 1) * kPerLane;
  const int lane = lane_id();
  double running = q.running;
  int last = -1;
  for (int begin = q.begin; begin < q.end; begin += kAtOnce) {
    const int first = begin + (lane - 1) * kPerLane;
    double w[kPerLane];
    double until = 0;
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) {
      const int i = first + j;
      w[j] = i < q.end ? (q.b == nullptr ? q.a[i] : q.a[i] * q.b[i]) : 0;
      until += w[j];
    }
#pragma unroll
    for (int step = 1; step < kWarp; step *= 2) {
      const double other = __shfl_up_sync(kLanes, until, step);
      if (lane > step) until += other;
    }
    const double before = __shfl_up_sync(kLanes, until, 1);
    double sum = running + (lane > 1 ? before : 0);
    int found = -1;
    bool passed = false;
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) {
      if (w[j] > 0 && !passed) {
        found = first + j;
        sum += w[j];
        passed = q.target < sum;
      }
    }
    const unsigned passing = __ballot_sync(kLanes, passed);
    const unsigned positive = __ballot_sync(kLanes, found >= 0);
    if (passing != 0) {
      return __shfl_sync(kLanes, found, __ffs(static_cast<int>(passing)) - 1);
    }
    if (positive != 0) {
      last = __shfl_sync(kLanes, found, 31 - __clz(static_cast<int>(positive)));
    }
    running += __shfl_sync(kLanes, until, kWarp - 1);
  }
  return last;
}

/// Lanes 1 to 31: answers questions until there are no more.
__device__ inline void answer_all(Question& question) {
  for (;;) {
    __syncwarp();
    if (question.is_last) return;
    const int found = answer(question);
    if (lane_id() == 1) question.answer = found;
    __syncwarp();
  }
}

/// eliminate_root_row() by a whole warp.
__device__ inline void eliminate_root_row(const detail::EliminationTables<double>& t,
                                          const double* direct, double* into, double* share) {
  for (int k = 1 + lane_id(); k <= t.n; k += kWarp) {
    into[k] = direct[k];
    share[k] = 0;
  }
  __syncwarp();
  for (int k = t.n; k >= 2; --k) {
    const double own = into[k] / t.pivot(k);
    if (own > 0) {
      for (int m = 1 + lane_id(); m < k; m += kWarp) into[m] += t.into(m)[k] * own;
    }
    if (lane_id() == 0) share[k] = own;
    __syncwarp();
  }
}

/// Writes shares[h][l] = A[h][l] / pivot_l and direct[m][h], by position, for the sentences in
/// which a tree was given up.
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

/// If kShared, the scratch memory of all warps of a block is in shared memory.
template <bool kShared>
__global__ void __launch_bounds__(kFallbackWarps* kWarp) fallback_kernel(SampleArgs args) {
  using namespace detail;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Question questions[kFallbackWarps];
  Question& question = questions[warp_id()];
  const int warp = static_cast<int>(blockIdx.x) * kFallbackWarps + warp_id();
  if (warp == 0 && lane_id() == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(args.counter),
              static_cast<unsigned long long>(*args.list_size));
  }
  const std::int64_t nodes = args.batch.max_n + 1;
  double* own =
      kShared ? reinterpret_cast<double*>(memory) + warp_id() * fallback_scratch(args.batch.max_n)
              : args.scratch + warp * fallback_scratch(args.batch.max_n);
  for (int i = warp; i < *args.list_size; i += static_cast<int>(gridDim.x) * kFallbackWarps) {
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
    for (int k = lane_id(); k <= n; k += kWarp) {
      direct[k] = k > 0 && (root_word == 0 || order[k] == root_word) ? tables.direct(0, k) : 0.0;
      // Any weight of the root's own edge would do, as long as there is one.
      if (root_word != 0 && k > 0 && order[k] == root_word && !(direct[k] > 0)) direct[k] = 1;
    }
    __syncwarp();
    eliminate_root_row(tables, direct, into, share);
    if (lane_id() != 0) {
      answer_all(question);
    } else {
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
      AskingChooser chooser(stream, question);
      const RootColumn<double> root{into, share, direct};
      device::UnElimination<double, AskingChooser>(tables, root, chooser, scratch).run();
      const TreeHeads out(args.out, b, s);
      for (int k = 1; k <= n; ++k) out.set(order[k] - 1, order[scratch.head[k]]);
      question.is_last = true;
      __syncwarp();
    }
    __syncwarp();
  }
}

}  // namespace taproot::cuda
