// SPDX-License-Identifier: Apache-2.0
//
// Both passes over the chart with numbers that have a derivative.
#include "cuda/core/launch.h"
#include "cuda/core/sentences.cuh"
#include "cuda/projective/fill.cuh"
#include "cuda/projective/projective.h"
#include "cuda/projective/shape.cuh"
#include "cuda/query/hessian.cuh"
#include "cuda/query/wide.h"

namespace taproot::cuda::projective {
namespace {

using detail::Dual;
using detail::Wide;

constexpr int kMostThreads = 512;

// The values of the direction, centered: a number that is added to all values of a column, or
// single-root to all of ROOT's, does not change the product but would cost digits.
struct Direction {
  EdgeReader values;
  const double* means;  // Of the columns; at 0 of the ROOT row.
  double down;          // A power of two.

  __device__ double operator()(int h, int m) const {
    return values(h, m) * down - means[m] - (h == 0 ? means[0] : 0.0);
  }
};

// The power of two by which values are divided; NaN if a value that counts is not finite, and 0 if
// all are 0. Sets the means.
__device__ double load_direction(int n, bool single, const ScaledWeight& weight,
                                 const double* root_law, Direction& direction, double* means,
                                 double* per_warp) {
  double largest = 0;
  double poison = 0;
  for_edges(n, [&](int h, int m) {
    if (weight.scores(h, m) == -HUGE_VAL) return;
    const double v = direction.values(h, m);
    poison += v * 0;
    largest = fmax(largest, fabs(v));
  });
  largest = block_max(largest, per_warp) + block_sum(poison, per_warp);
  if (!(largest < HUGE_VAL)) return NAN;
  if (largest == 0) return 0;
  const int exponent = max(ilogb(largest), -1000);
  direction.down = scalbn(1.0, -exponent);
  for (int m = 1 + static_cast<int>(threadIdx.x); m <= n; m += static_cast<int>(blockDim.x)) {
    double sum = 0;
    double mass = 0;
    for (int h = single ? 1 : 0; h <= n; ++h) {
      const double w = h == m ? 0.0 : weight.wide(h, m).to_double();
      if (!(w > 0)) continue;
      sum += w * (direction.values(h, m) * direction.down);
      mass += w;
    }
    means[m] = mass > 0 ? sum / mass : 0.0;
  }
  if (threadIdx.x == 0) means[0] = 0;
  __syncthreads();
  double root_mean = 0;
  for (int m = 1 + static_cast<int>(threadIdx.x); single && m <= n;
       m += static_cast<int>(blockDim.x)) {
    if (root_law[m - 1] > 0) root_mean += root_law[m - 1] * direction(0, m);
  }
  root_mean = block_sum(root_mean, per_warp);
  if (threadIdx.x == 0) means[0] = root_mean;
  __syncthreads();
  return scalbn(1.0, exponent);
}

// T is double or Wide; weight_of(h, m) is an edge's weight in T.
template <typename T, typename WeightOf>
__device__ void write_product(const FoldedChart<Dual<T>>& c, int n, const WeightOf& weight_of,
                              const Direction& direction, double scale, const EdgeWriter& target) {
  using Number = Dual<T>;
  using Ops = SumProduct<Number>;
  load_weights<Ops>(n, c, [&](int h, int m) {
    const T w = weight_of(h, m);
    return detail::to_double(w) == 0 && w == T(0) ? Number(0.0) : Number(w, w * T(direction(h, m)));
  });
  inside<Ops>(c, [](const auto&...) {});
  const Number z = total<Ops>(c);
  const T inverse = T(1) / z.value;
  const Number seed(inverse, -(z.slope * inverse * inverse));
  const auto write = [&](int h, int m, const T& slope) {
    target.write(h, m, scale * detail::to_double(slope));
  };
  for (int m = static_cast<int>(threadIdx.x); m <= n; m += static_cast<int>(blockDim.x)) {
    target.write(m, 0, 0.0);
    target.write(m, m, 0.0);
    if (m > 0 && c.single()) write(0, m, (seed * root_term<Ops>(c, m - 1)).slope);
  }
  outside<Ops>(c, seed, [&](int d, int i, const Number& right, const Number& left) {
    const int node = i + c.first;
    write(node, node + d, (right * c.edges[c.right(d, i)]).slope);
    write(node + d, node, (left * c.edges[c.left(d, i)]).slope);
  });
}

// run(chart of Dual<T>, ...) of one sentence whose scales are known.
template <typename T, typename WeightOf>
__device__ void answer(const HessianArgs& a, int b, const FoldedChart<Dual<T>>& c, double* means,
                       double* per_warp, const WeightOf& weight_of) {
  const int n = a.batch.n(b);
  const std::int64_t nodes = a.batch.nodes();
  const ScaledWeight weight{EdgeReader(a.batch, b, n), a.summary.scale + b * nodes};
  Direction direction{EdgeReader(a.direction, b, n), means, 1.0};
  const EdgeWriter target(a.out, b, n);
  const double scale = load_direction(n, a.batch.single(), weight, a.summary.root_law + b * nodes,
                                      direction, means, per_warp);
  if (!(scale > 0)) return fill_hessian(n, scale, target);
  write_product<T>(
      c, n, [&](int h, int m) { return weight_of(weight, h, m); }, direction, scale * a.factor,
      target);
}

template <Place kPlace>
__global__ void __launch_bounds__(kMostThreads)
    chart_hessian_kernel(const __grid_constant__ HessianArgs a, unsigned char* slots,
                         std::int64_t slot_bytes) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[kMostThreads / kWarp];
  for (int b = static_cast<int>(blockIdx.x); b < static_cast<int>(a.batch.size);
       b += static_cast<int>(gridDim.x)) {
    const std::int32_t status = a.summary.outcomes[b].status;
    if (a.total) complete_hessian(a, b, status);
    if (status != kOk || a.summary.scalar[b] != kInDouble) continue;
    const int n = a.batch.n(b);
    const ChartMemory<Dual<double>, kPlace> parts(
        memory + vector_bytes(n, static_cast<int>(blockDim.x)), slots + blockIdx.x * slot_bytes, n,
        a.batch.single());
    const FoldedChart<Dual<double>> c(n, a.batch.single(), parts.inside, parts.outside);
    answer<double>(a, b, c, reinterpret_cast<double*>(memory), per_warp,
                   [](const ScaledWeight& weight, int h, int m) { return weight(h, m); });
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kWideThreads)
    wide_chart_hessian_kernel(const __grid_constant__ HessianArgs a) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[kWideThreads / kWarp];
  for_sentences(
      static_cast<int>(a.batch.size),
      [&](int b) { return a.summary.outcomes[b].status == kOk && a.summary.scalar[b] == kInWide; },
      [&](int b) {
        const int n = a.batch.n(b);
        auto* slot = reinterpret_cast<Dual<Wide>*>(a.wide.data + blockIdx.x * a.wide.stride);
        const FoldedChart<Dual<Wide>> c(n, a.batch.single(), slot,
                                        slot + chart_cells(n, a.batch.single(), kInsideSquares));
        answer<Wide>(a, b, c, reinterpret_cast<double*>(memory), per_warp,
                     [](const ScaledWeight& weight, int h, int m) { return weight.wide(h, m); });
      });
}

}  // namespace

HessianQuestion take_hessian(Arena& arena, const Limits& limits, const Batch& batch,
                             const Summary& summary, const Factors& known,
                             const CudaHessian& asked) {
  HessianQuestion question;
  InferenceArgs& infer = question.infer;
  infer.batch = batch;
  infer.eliminate = known.weights == nullptr;
  infer.summary = infer.eliminate ? take_summary(arena, batch) : summary;
  infer.summary.entropy = nullptr;
  if (asked.outcomes != nullptr) infer.summary.outcomes = asked.outcomes;
  infer.entropy = asked.entropy;
  infer.reverse = infer.total = asked.entropy.data != nullptr;
  take_infer_memory(arena, limits, infer);
  HessianArgs& h = question.hessian;
  h.batch = batch;
  h.summary = infer.summary;
  h.direction = asked.direction;
  h.out = asked.out;
  h.factor = asked.factor;
  const ChartBlock block(batch, limits, sizeof(Dual<double>));
  h.values = reinterpret_cast<double*>(block.take(arena));
  h.wide = take_wide_slots(arena, limits, batch, kWideSquares);
  return question;
}

void hessian_product(const HessianQuestion& question, const Limits& limits, void* stream) {
  const HessianArgs& h = question.hessian;
  if (h.batch.size == 0) return;
  // What it needs of an elimination are outcomes, scales and ROOT's law.
  if (question.infer.eliminate) infer(question.infer, Precision::kFloat64, limits, stream);
  const ChartBlock block(h.batch, limits, sizeof(Dual<double>));
  for_place(block.place, [&]<Place kPlace>() {
    launch(&chart_hessian_kernel<kPlace>, static_cast<unsigned>(block.blocks),
           static_cast<unsigned>(block.threads), block.bytes, stream, h,
           reinterpret_cast<unsigned char*>(h.values), block.slot_bytes);
  });
  const auto blocks = std::min(h.batch.size, static_cast<std::size_t>(h.wide.count));
  launch(&wide_chart_hessian_kernel, static_cast<unsigned>(blocks), kWideThreads,
         vector_bytes(h.batch.max_n, kWideThreads), stream, h);
}

}  // namespace taproot::cuda::projective
