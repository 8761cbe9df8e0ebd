// SPDX-License-Identifier: Apache-2.0
//
// Projective trees from charts that infer() has kept, one thread per tree: those of the host.
#include <algorithm>

#include "core/random.h"
#include "cuda/core/heads.cuh"
#include "cuda/core/launch.h"
#include "cuda/projective/fill.cuh"
#include "cuda/projective/projective.h"
#include "cuda/projective/walk.cuh"

namespace taproot::cuda::projective {
namespace {

constexpr int kThreads = 128;

// The blocks of a launch: as many as a device runs at once, each with several trees per thread if
// that is needed, because every block reads the chart.
struct Sizes {
  std::size_t chart_bytes;  // Of the longest sentence: the inside tables and ROOT's weights.
  bool shared;
  unsigned blocks;  // Per sentence.
  std::size_t stack;

  Sizes(const SampleArgs& args, const Limits& limits) {
    const auto size = static_cast<std::size_t>(chart_size(args.batch.max_n, args.batch.single()));
    chart_bytes = (kInsideSquares * size + 1) * size * sizeof(double);
    shared = chart_bytes <= limits.most_shared;
    const std::size_t most = (static_cast<std::size_t>(args.trees) + kThreads - 1) / kThreads;
    const std::size_t wanted =
        std::size_t{8} * static_cast<std::size_t>(limits.multiprocessors) / args.batch.size + 1;
    blocks =
        static_cast<unsigned>(std::clamp(wanted, std::size_t{1}, std::max(most, std::size_t{1})));
    stack = static_cast<std::size_t>(most_cells(static_cast<int>(size)));
  }
};

// The entry of kSplit, which is not kept, in the order of inside().
__device__ double split_of(const Alternatives<double>& x, int d) {
  double sum = 0;
  for (int e = 1; e < d - 1; ++e) sum = fma(x.a[e * x.a_step], x.b[e * x.b_step], sum);
  if (d >= 2) sum += *x.b;
  return sum + x.a[(d - 1) * x.a_step];
}

__device__ int choose(const FoldedChart<double>& c, const ChartCell& cell, double z, double u) {
  if (cell.kind == ChartCell::kRoot) {
    return detail::scan_alternatives(c.size, u * z,
                                     [&](int m) { return root_term<DoubleOps>(c, m); });
  }
  const Alternatives<double> x = alternatives_of(c, cell);
  const double whole = cell.kind == ChartCell::kRightSpan  ? c.spans[c.right(cell.d, cell.i)]
                       : cell.kind == ChartCell::kLeftSpan ? c.spans[c.left(cell.d, cell.i)]
                                                           : split_of(x, cell.d);
  return detail::scan_alternatives(cell.d, u * whole,
                                   [&](int e) { return x.a[e * x.a_step] * x.b[e * x.b_step]; });
}

template <bool kShared>
__global__ void __launch_bounds__(kThreads)
    chart_sample_kernel(const __grid_constant__ SampleArgs args) {
  extern __shared__ __align__(16) double near[];
  __shared__ detail::StreamKey key;
  __shared__ double z;
  const int b = static_cast<int>(blockIdx.y);
  const int tid = static_cast<int>(threadIdx.x);
  const bool ok = args.summary.outcomes[b].status == kOk;
  const int n = ok ? args.batch.n(b) : 0;
  const bool single = args.batch.single();
  double* kept = args.factors.weights + args.factors.at(b, args.batch.nodes());
  double* inside_tables = kShared ? near : kept;
  const int size = chart_size(n, single);
  const std::int64_t cells = kInsideSquares * std::int64_t{size} * size;
  if (ok) {
    const FoldedChart<double> c(n, single, inside_tables, inside_tables + cells);
    if constexpr (kShared) {
      const std::int64_t all = cells + (single ? size : 0);
      for (std::int64_t i = tid; i < all; i += kThreads) near[i] = kept[i];
      __syncthreads();
    }
    if (tid == 0) {
      key = detail::stream_key(args.seed, args.batch.id(b));
      z = total<DoubleOps>(c);
    }
    __syncthreads();
  }
  const FoldedChart<double> c(n, single, inside_tables, inside_tables + cells);
  const int block = static_cast<int>(blockIdx.y * gridDim.x + blockIdx.x);
  auto* stack = reinterpret_cast<PackedCell*>(args.scratch) +
                static_cast<std::int64_t>(block) * kThreads *
                    most_cells(chart_size(args.batch.max_n, single)) +
                tid;
  for (int s = static_cast<int>(blockIdx.x) * kThreads + tid; s < args.trees;
       s += static_cast<int>(gridDim.x) * kThreads) {
    const TreeHeads out(args.out, b, s);
    if (ok) {
      detail::PlainStream stream(key, args.first_tree + static_cast<std::uint32_t>(s),
                                 detail::Purpose::kTree);
      walk<false>(
          c, stack, kThreads, [&](int i, int head) { out.set(i, head); },
          [&](const ChartCell& cell) { return choose(c, cell, z, stream.uniform()); });
    }
    for (int m = n; m < args.batch.max_n; ++m) out.set(m, -1);
  }
}

}  // namespace

void take_sample_memory(Arena& arena, const Limits& limits, SampleArgs& args) {
  const Sizes sizes(args, limits);
  const std::size_t words = args.batch.size * sizes.blocks * kThreads * sizes.stack;
  args.scratch = reinterpret_cast<double*>(arena.take<PackedCell>(words));
}

void launch_sample(const SampleArgs& args, const Limits& limits, void* stream) {
  if (args.batch.size == 0 || args.trees == 0) return;
  const Sizes sizes(args, limits);
  const dim3 grid(sizes.blocks, static_cast<unsigned>(args.batch.size));
  if (sizes.shared) {
    launch(&chart_sample_kernel<true>, grid, kThreads, sizes.chart_bytes, stream, args);
  } else {
    launch(&chart_sample_kernel<false>, grid, kThreads, 0, stream, args);
  }
}

}  // namespace taproot::cuda::projective
