// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cuda/core/launch.h"
#include "cuda/projective/fill.cuh"
#include "cuda/projective/projective.h"
#include "cuda/projective/shape.cuh"
#include "cuda/query/divergence.cuh"
#include "cuda/query/wide.h"

namespace taproot::cuda::projective {
namespace {

using detail::Divergence;
using detail::Wide;

constexpr int kThreads = 128;

// Which kinds of trees there are: without an edge that q forbids, with such edges, or both.
struct Kinds {
  std::uint8_t bits;

  static constexpr std::uint8_t kAllowed = 1;
  static constexpr std::uint8_t kForbidden = 2;

  Kinds() = default;
  __device__ explicit Kinds(int x) : bits(static_cast<std::uint8_t>(x)) {}
  __device__ friend Kinds operator+(Kinds a, Kinds b) { return Kinds(a.bits | b.bits); }
  __device__ friend Kinds operator*(Kinds a, Kinds b) {
    if (a.bits == 0 || b.bits == 0) return Kinds(0);
    return Kinds((a.bits & b.bits & kAllowed) | ((a.bits | b.bits) & kForbidden));
  }
};

__global__ void __launch_bounds__(kThreads)
    chart_divergence_kernel(const __grid_constant__ DivergenceArgs args) {
  __shared__ double per_warp[kThreads / kWarp];
  const int b = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0) args.wide[b] = 0;
  if (!are_comparable(args, b)) return;
  const int n = args.p.n(b);
  // Whether a tree of p has an edge that q forbids is seen from a chart.
  const bool forbids = forbids_more(EdgeReader(args.p, b, n), EdgeReader(args.q, b, n), n);
  if (forbids || args.p_summary.scalar[b] == kInWide || args.q_summary.scalar[b] == kInWide) {
    if (threadIdx.x == 0) args.wide[b] = 1;
    return;
  }
  compare_in_double(args, b, per_warp);
}

template <Divergence kKind>
__device__ double mean_log(const FoldedChart<detail::DivergenceEntry<kKind>>& c, int n,
                           const ScaledWeight& p, const ScaledWeight& q) {
  using Entry = detail::DivergenceEntry<kKind>;
  using Ops = SumProduct<Entry>;
  load_weights<Ops>(n, c, [&](int h, int m) {
    const Wide of_q = q.wide(h, m);
    // An edge that q forbids is in no tree of p, so p may forbid it, too.
    return Entry(detail::WideEntry{of_q.is_zero() ? Wide(0.0) : p.wide(h, m), of_q, 0});
  });
  inside<Ops>(c, [](const auto&...) {});
  return total<Ops>(c).gap;
}

__device__ void answer(const DivergenceArgs& args, int b, Wide* slot) {
  const int n = args.p.n(b);
  const bool single = args.p.single();
  const std::int64_t square = std::int64_t{chart_size(n, single)} * chart_size(n, single);
  const EdgeReader p_scores(args.p, b, n);
  const EdgeReader q_scores(args.q, b, n);
  {
    auto* cells = reinterpret_cast<Kinds*>(slot);
    const FoldedChart<Kinds> c(n, single, cells, cells + kInsideSquares * square);
    load_weights<SumProduct<Kinds>>(n, c, [&](int h, int m) {
      if (p_scores(h, m) == -HUGE_VAL) return Kinds(0);
      return Kinds(q_scores(h, m) == -HUGE_VAL ? Kinds::kForbidden : Kinds::kAllowed);
    });
    inside<SumProduct<Kinds>>(c, [](const auto&...) {});
    const bool forbids = (total<SumProduct<Kinds>>(c).bits & Kinds::kForbidden) != 0;
    __syncthreads();
    if (forbids) {
      if (threadIdx.x == 0) args.out[b] = HUGE_VAL;
      return;
    }
  }
  const ScaledWeight p{p_scores, args.p_summary.scale + b * args.p.nodes()};
  const ScaledWeight q{q_scores, args.q_summary.scale + b * args.q.nodes()};
  const auto compare = [&]<Divergence kKind>() {
    auto* cells = reinterpret_cast<detail::DivergenceEntry<kKind>*>(slot);
    return -mean_log<kKind>({n, single, cells, cells + kInsideSquares * square}, n, p, q);
  };
  const double x = args.kind == Divergence::kCrossEntropy
                       ? compare.template operator()<Divergence::kCrossEntropy>()
                       : compare.template operator()<Divergence::kRelativeEntropy>();
  if (threadIdx.x == 0) write_divergence(args, b, x);
}

__global__ void __launch_bounds__(kThreads)
    wide_chart_divergence_kernel(const __grid_constant__ DivergenceArgs args) {
  for_sentences(
      static_cast<int>(args.p.size), [&](int b) { return args.wide[b] != 0; },
      [&](int b) { answer(args, b, args.slots.data + blockIdx.x * args.slots.stride); });
}

}  // namespace

void take_divergence_memory(Arena& arena, const Limits& limits, DivergenceArgs& args) {
  args.wide = arena.take<std::int32_t>(args.p.size);
  args.slots = take_wide_slots(arena, limits, args.p, kWideSquares);
}

void launch_divergence(const DivergenceArgs& args, void* stream) {
  if (args.p.size == 0) return;
  launch(&chart_divergence_kernel, static_cast<unsigned>(args.p.size), kThreads, 0, stream, args);
  const auto blocks = std::min(args.p.size, static_cast<std::size_t>(args.slots.count));
  launch(&wide_chart_divergence_kernel, static_cast<unsigned>(blocks), kThreads, 0, stream, args);
}

}  // namespace taproot::cuda::projective
