// SPDX-License-Identifier: Apache-2.0
//
// The best projective tree: by a chart in double and, where rounding does not decide, by a chart
// without rounding. src/decode/chart/ finds the same tree.
#include <algorithm>

#include "core/exact_sum.h"
#include "cuda/core/heads.cuh"
#include "cuda/core/launch.h"
#include "cuda/core/sentences.cuh"
#include "cuda/projective/best.cuh"
#include "cuda/projective/fill.cuh"
#include "cuda/projective/projective.h"
#include "cuda/projective/shape.cuh"
#include "cuda/projective/walk.cuh"
#include "decode/tree_cost.h"

namespace taproot::cuda::projective {
namespace {

constexpr int kFewLimbs = 3;
constexpr int kAllLimbs = 20;
constexpr int kProbabilityUnit = -100;  // As in decode/argmax.cu.
constexpr int kExactThreads = 128;
constexpr int kNone = 0x7fffffff;
constexpr std::int64_t kMostSlotBytes = std::int64_t{64} << 20;

// What is maximized: scores, or the probabilities of edges.
struct Values {
  EdgeReader scores;
  EdgeReader values;

  __device__ Values(const ArgmaxArgs& args, int b, int n)
      : scores(args.batch, b, n),
        values(args.values.data != nullptr ? EdgeReader(args.values, b, n) : scores) {}
  __device__ bool allows(int h, int m) const { return scores(h, m) != -HUGE_VAL; }
  __device__ double operator()(int h, int m) const {
    return allows(h, m) ? values(h, m) : -HUGE_VAL;
  }
};

// The heads, their outcome and their score; the heads are there if it is ok. By all threads.
__device__ void write_answer(const ArgmaxArgs& args, int b, const CudaOutcome& outcome) {
  const int n = args.batch.n(b);
  const TreeHeads heads(args.out, b, 0);
  const bool ok = outcome.status == kOk;
  const int threads = static_cast<int>(blockDim.x);
  for (int m = (ok ? n : 0) + static_cast<int>(threadIdx.x); m < args.batch.max_n; m += threads) {
    heads.set(m, -1);
  }
  if (threadIdx.x != 0) return;
  args.outcomes[b] = outcome;
  if (args.score.data == nullptr) return;
  if (!ok) return write_number(args.score, b, NAN);
  const EdgeReader scores(args.batch, b, n);
  detail::ExactSum sum;
  for (int m = 1; m <= n; ++m) sum.add(scores(heads.get(m - 1), m));
  write_number(args.score, b, sum.value());
}

// The outcome as far as it is known without the scores.
__device__ CudaOutcome check(const ArgmaxArgs& args, int b, int n) {
  if (args.known != nullptr && args.known[b].status != kOk) return args.known[b];
  if (n < 0 || n > args.batch.max_n) return {kCudaBadLength, -1, -1};
  return {n == 0 ? kEmpty : kOk, -1, -1};
}

// The best two alternatives of a cell, over the lanes of a warp.
struct Contest {
  int best = 0;
  double first = -HUGE_VAL;
  double second = -HUGE_VAL;

  __device__ void consider(int e, double x) {
    second = fmax(second, fmin(first, x));
    best = x > first ? e : best;
    first = fmax(first, x);
  }
  __device__ void combine() {
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const int other = shuffle_xor(best, step);
      const double other_first = shuffle_xor(first, step);
      second = fmax(fmax(second, shuffle_xor(second, step)), fmin(first, other_first));
      best = other_first > first || (other_first == first && other < best) ? other : best;
      first = fmax(first, other_first);
    }
  }
};

// As BestChart::walk(), by one warp: -1 where rounding does not tell the best from the others.
__device__ int choose(const FoldedChart<double>& c, const ChartCell& cell, double relative_error) {
  Contest contest;
  double error = 0;
  if (cell.kind == ChartCell::kRoot) {
    for (int m = lane_id(); m < c.size; m += kWarp) {
      const double left = m == 0 ? 0.0 : c.spans[c.left(m, 0)];
      const double x = c.weights[m] + (left + c.spans[c.right(c.size - 1 - m, m)]);
      contest.consider(m, x);
      // ROOT edges may have the other sign, so that a small sum may have large terms.
      if (x > -HUGE_VAL) error = fmax(error, relative_error * 4 * (fabs(c.weights[m]) + fabs(x)));
    }
    error = warp_max(error);
    contest.combine();
  } else {
    const Alternatives<double> x = alternatives_of(c, cell);
    for (int e = lane_id(); e < cell.d; e += kWarp) {
      contest.consider(e, x.a[e * x.a_step] + x.b[e * x.b_step]);
    }
    contest.combine();
    if (contest.second > -HUGE_VAL) {
      error = relative_error * (fabs(contest.first) + fabs(contest.second));
    }
  }
  return contest.first - contest.second > error ? contest.best : -1;
}

template <Place kPlace>
__device__ CudaOutcome decode(const ArgmaxArgs& args, int b, int n, unsigned char* memory,
                              unsigned char* slot, const TreeHeads& heads) {
  __shared__ int found;
  __shared__ int bad;
  const bool single = args.batch.single();
  const int threads = static_cast<int>(blockDim.x);
  double* tops = reinterpret_cast<double*>(memory);
  auto* stack = reinterpret_cast<PackedCell*>(tops + n + 1);
  const ChartMemory<double, kPlace> parts(memory + vector_bytes(n, threads), slot, n, single);
  const FoldedChart<double> c(n, single, parts.inside, parts.outside);
  const Values value(args, b, n);
  if (threadIdx.x == 0) {
    found = 1;
    bad = kNone;
  }
  __syncthreads();
  load_weights<BestInDouble>(n, c, [&](int h, int m) {
    const double score = value.scores(h, m);
    if (!(fabs(score) <= kMaxScore) && score != -HUGE_VAL) atomicMin(&bad, h * (n + 1) + m);
    return value(h, m);
  });
  if (bad != kNone) return {kBadScore, bad / (n + 1), bad % (n + 1)};
  // Values are less the largest of their column: sums of numbers of one sign have a small error.
  for (int m = 1 + static_cast<int>(threadIdx.x); m <= n; m += threads) {
    double top = -HUGE_VAL;
    for (int h = c.first; h <= n; ++h) {
      if (h != m) top = fmax(top, c.weights[c.weight_at(h, m)]);
    }
    tops[m] = top == -HUGE_VAL ? 0.0 : top;
  }
  __syncthreads();
  for_edges(n, [&](int h, int m) { c.weights[c.weight_at(h, m)] -= tops[m]; });
  __syncthreads();
  inside<BestInDouble>(c, [](const auto&...) {});
  if (!(total<BestInDouble>(c) > -HUGE_VAL)) return {kNoTree, -1, -1};
  const double relative_error = 8 * (n + 2) * 0x1p-53;
  if (warp_id() == 0) {
    const bool certain = walk<true>(
        c, stack, 1, [&](int i, int head) { heads.set(i, head); },
        [&](const ChartCell& cell) { return choose(c, cell, relative_error); });
    if (!certain && lane_id() == 0) found = 0;
  }
  __syncthreads();
  return {found != 0 ? kOk : kCudaOutOfRange, -1, -1};
}

template <Place kPlace>
__global__ void __launch_bounds__(512)
    chart_argmax_kernel(const __grid_constant__ ArgmaxArgs args, unsigned char* slots,
                        std::int64_t slot_bytes) {
  extern __shared__ __align__(16) unsigned char memory[];
  for (int b = static_cast<int>(blockIdx.x); b < static_cast<int>(args.batch.size);
       b += static_cast<int>(gridDim.x)) {
    const int n = args.batch.n(b);
    CudaOutcome outcome = check(args, b, n);
    if (outcome.status == kOk) {
      outcome = decode<kPlace>(args, b, n, memory, slots + blockIdx.x * slot_bytes,
                               TreeHeads(args.out, b, 0));
    }
    write_answer(args, b, outcome);
    __syncthreads();
  }
}

// Where the digits of a sentence's values lie. For all threads.
__device__ Digits digits_of_all(const Values& value, int n) {
  __shared__ int top;
  __shared__ int unit;
  if (threadIdx.x == 0) {
    top = kNoTop;
    unit = kNoUnit;
  }
  __syncthreads();
  for_edges(n, [&](int h, int m) {
    if (!value.allows(h, m)) return;
    const Digits digits = digits_of(value(h, m));
    atomicMax(&top, digits.top);
    atomicMin(&unit, digits.unit);
  });
  __syncthreads();
  return {top, unit};
}

// The same without rounding, for the sentences that the kernel above has left.
template <int kLimbs>
__device__ void decode_exactly(const ArgmaxArgs& args, int b, unsigned char* slot,
                               PackedCell* stack) {
  using Ops = BestWithoutRounding<kLimbs>;
  using Cost = typename Ops::Cost;
  const int n = args.batch.n(b);
  const bool single = args.batch.single();
  const Values value(args, b, n);
  int unit = kProbabilityUnit;
  if (args.values.data == nullptr) {
    const Digits digits = digits_of_all(value, n);
    const int bits = digits.top - digits.unit + (32 - __clz(n + 1)) + 3;
    if (digits.unit != kNoUnit && bits >= 64 * (kLimbs - 1)) return;
    unit = digits.unit;
  }
  auto* cells = reinterpret_cast<Cost*>(slot);
  const FoldedChart<Cost> c(
      n, single, cells,
      cells + kInsideSquares * chart_size(n, single) * std::int64_t{chart_size(n, single)});
  load_weights<Ops>(n, c, [&](int h, int m) {
    return value.allows(h, m) ? Cost::of(value(h, m), unit, detail::order_of({h, m})) : Ops::zero();
  });
  inside<Ops>(c, [](const auto&...) {});
  const TreeHeads heads(args.out, b, 0);
  if (threadIdx.x == 0) {
    const auto set = [&](int i, int head) { heads.set(i, head); };
    walk<false>(c, stack, 1, set, [&](const ChartCell& cell) {
      const int count = cell.kind == ChartCell::kRoot ? c.size : cell.d;
      int best = 0;
      Cost most = Ops::zero();
      for (int e = 0; e < count; ++e) {
        Cost cost;
        if (cell.kind == ChartCell::kRoot) {
          cost = root_term<Ops>(c, e);
        } else {
          const Alternatives<Cost> x = alternatives_of(c, cell);
          cost = Ops::times(x.a[e * x.a_step], x.b[e * x.b_step]);
        }
        if (most < cost) best = e, most = cost;
      }
      return best;
    });
  }
  __syncthreads();
  write_answer(args, b, {kOk, -1, -1});
}

template <int kLimbs>
__global__ void __launch_bounds__(kExactThreads)
    exact_argmax_kernel(const __grid_constant__ ArgmaxArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  for_sentences(
      static_cast<int>(args.batch.size),
      [&](int b) { return args.outcomes[b].status == kCudaOutOfRange; },
      [&](int b) {
        decode_exactly<kLimbs>(args, b, args.slots + blockIdx.x * args.slot_bytes,
                               reinterpret_cast<PackedCell*>(memory));
      });
}

}  // namespace

void take_argmax_memory(Arena& arena, const Limits& limits, ArgmaxArgs& args) {
  if (args.outcomes == nullptr) args.outcomes = arena.take<CudaOutcome>(args.batch.size);
  const ChartBlock block(args.batch, limits, sizeof(double));
  const std::int64_t size = chart_size(args.batch.max_n, args.batch.single());
  args.slot_bytes = (kInsideSquares + 1) * std::max(size * size, std::int64_t{1}) *
                    static_cast<std::int64_t>(sizeof(Fixed<kAllLimbs>));
  const auto sentences = static_cast<std::int64_t>(args.batch.size);
  const std::int64_t blocks = std::int64_t{4} * limits.multiprocessors;
  args.slot_count = static_cast<int>(
      std::max(std::min({sentences, blocks, kMostSlotBytes / args.slot_bytes}), std::int64_t{1}));
  // The two kernels follow one another, so that their slots may lie in the same memory.
  const std::size_t exact = static_cast<std::size_t>(args.slot_count * args.slot_bytes);
  const std::size_t rounded = block.blocks * static_cast<std::size_t>(block.slot_bytes);
  args.slots = arena.take<unsigned char>(std::max(exact, rounded));
}

void launch_argmax(const ArgmaxArgs& args, const Limits& limits, void* stream) {
  if (args.batch.size == 0) return;
  const ChartBlock block(args.batch, limits, sizeof(double));
  for_place(block.place, [&]<Place kPlace>() {
    launch(&chart_argmax_kernel<kPlace>, static_cast<unsigned>(block.blocks),
           static_cast<unsigned>(block.threads), block.bytes, stream, args, args.slots,
           block.slot_bytes);
  });
  const auto slots = static_cast<unsigned>(args.slot_count);
  const std::size_t stack =
      sizeof(PackedCell) *
      static_cast<std::size_t>(most_cells(chart_size(args.batch.max_n, false)));
  launch(&exact_argmax_kernel<kFewLimbs>, slots, kExactThreads, stack, stream, args);
  if (args.values.data != nullptr) return;  // Probabilities always fit.
  launch(&exact_argmax_kernel<kAllLimbs>, slots, kExactThreads, stack, stream, args);
}

}  // namespace taproot::cuda::projective
