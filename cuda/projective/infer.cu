// SPDX-License-Identifier: Apache-2.0
#include "cuda/core/launch.h"
#include "cuda/projective/fill.cuh"
#include "cuda/projective/projective.h"
#include "cuda/projective/shape.cuh"
#include "cuda/query/inference.cuh"
#include "cuda/query/wide.h"

namespace taproot::cuda::projective {
namespace {

using detail::Wide;
using WideOps = SumProduct<Wide>;

__device__ Vectors vectors_of(unsigned char* memory, int n) {
  Vectors v{};
  v.scale = reinterpret_cast<double*>(memory);
  v.sums = v.scale + n + 1;
  v.keys = v.sums + n + 1;
  v.reduce = v.keys + n + 1;
  return v;
}

// Checks the length and the scores, and chooses the scales. False, with the outcome written and
// answers given, if there is no answer.
__device__ bool prepare(const InferenceArgs& args, const SentenceOutput& out, Vectors& v,
                        SentenceFacts& facts) {
  const int n = out.n;
  CudaOutcome failure{kOk, -1, -1};
  if (n < 0 || n > args.batch.max_n) {
    failure.status = kCudaBadLength;
  } else if (n == 0) {
    failure.status = kEmpty;
  } else {
    choose_scales(EdgeReader(args.batch, out.b, n), n, out.single(), v, facts);
    if (facts.bad_cell == 0x7fffffff) return true;
    failure = {kBadScore, facts.bad_cell / (n + 1), facts.bad_cell % (n + 1)};
  }
  if (threadIdx.x == 0) *out.outcome() = failure;
  if (args.total) answer_failure(args, out.b, n);
  return false;
}

__device__ void copy(const double* from, double* to, std::int64_t count) {
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

// What is kept of a chart: the inside tables and, behind them, ROOT's weights.
__device__ void keep_chart(const FoldedChart<double>& c, double* to) {
  const std::int64_t cells = kInsideSquares * c.square();
  copy(c.spans, to, cells);
  if (c.single()) copy(c.weights, to + cells, c.size);
}

// Scales and, single-root, p(0 -> m).
template <typename Ops, typename T>
__device__ void write_vectors(const SentenceOutput& out, const FoldedChart<T>& c, const T& z,
                              const double* scale, double root_scale) {
  const int threads = static_cast<int>(blockDim.x);
  for (int m = static_cast<int>(threadIdx.x); m <= out.n; m += threads) {
    out.scale()[m] = m == 0 ? root_scale : scale[m];
    if (m == 0 || !c.single()) continue;
    out.root_law()[m - 1] =
        detail::nearest_probability(detail::to_double(root_term<Ops>(c, m - 1) / z));
  }
}

// The outside pass and the marginals; returns this thread's part of the mean of the scaled scores.
template <typename Ops, typename T>
__device__ double write_marginals(const FoldedChart<T>& c, const T& z,
                                  const MarginalWriter& writer) {
  const int n = writer.n;
  const int threads = static_cast<int>(blockDim.x);
  double mean = 0;
  const auto write = [&](int h, int m, const T& p) {
    mean += writer.write_probability(h, m, detail::nearest_probability(detail::to_double(p)));
  };
  for (int m = static_cast<int>(threadIdx.x); m <= n; m += threads) {
    writer.write_probability(m, 0, 0.0);
    writer.write_probability(m, m, 0.0);
    if (m > 0 && c.single()) write(0, m, root_term<Ops>(c, m - 1) / z);
  }
  outside<Ops>(c, T(1) / z, [&](int d, int i, const T& right, const T& left) {
    const int node = i + c.first;
    write(node, node + d, right * c.edges[c.right(d, i)]);
    write(node + d, node, left * c.edges[c.left(d, i)]);
  });
  return mean;
}

template <Place kPlace>
__device__ void answer(const InferenceArgs& args, int b, unsigned char* memory, unsigned char* slot,
                       SentenceFacts& facts) {
  const SentenceOutput out(args, b);
  const int n = out.n;
  if (args.total) fill_edges(args.marginals[0], args.batch.max_n, b, n, true, 0);
  const int shown = min(max(n, 0), args.batch.max_n);
  Vectors v = vectors_of(memory, shown);
  const ChartMemory<double, kPlace> parts(
      memory + vector_bytes(shown, static_cast<int>(blockDim.x)), slot, shown, out.single());
  if (args.eliminate && !prepare(args, out, v, facts)) return;
  const FoldedChart<double> c(n, out.single(), parts.inside, parts.outside);
  const EdgeReader scores(args.batch, b, n);
  double* kept = args.factors.weights == nullptr ? nullptr : out.weights();
  if (args.eliminate) {
    const bool fits = fill_chart(scores, n, out.single(), c, v, facts);
    if (threadIdx.x == 0) *out.outcome() = {fits ? kOk : kCudaOutOfRange, -1, -1};
    if (!fits) return;
    if (threadIdx.x == 0) write_log_partition(args, b, facts, kInDouble);
    write_vectors<DoubleOps>(out, c, total<DoubleOps>(c), v.scale, facts.root_scale);
    if (kept != nullptr) keep_chart(c, kept);
  } else {
    for (int m = static_cast<int>(threadIdx.x); m <= n; m += static_cast<int>(blockDim.x)) {
      v.scale[m] = out.scale()[m];
    }
    if (threadIdx.x == 0) facts.root_scale = out.scale()[0];
    copy(kept, c.spans, kInsideSquares * c.square());
    __syncthreads();
    load_weights<DoubleOps>(n, c, ScaledWeight{scores, v.scale});
  }
  if (!args.reverse) return;
  const MarginalWriter writer(args, out, v.scale, facts.root_scale);
  double mean = write_marginals<DoubleOps>(c, total<DoubleOps>(c), writer);
  mean = sum_of_threads(mean, v.reduce);
  if (threadIdx.x == 0) write_entropy(args, b, args.summary.scaled_log_partition[b] - mean);
}

template <Place kPlace>
__global__ void __launch_bounds__(512) chart_kernel(const __grid_constant__ InferenceArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  unsigned char* slot =
      static_cast<unsigned char*>(args.matrices) + blockIdx.x * args.matrix_stride;
  for_sentences(
      static_cast<int>(args.batch.size),
      [&](int b) { return wanted<double>(args, b, args.summary.outcomes[b].status); },
      [&](int b) { answer<kPlace>(args, b, memory, slot, facts); });
}

// The same over Wide, of the sentences beyond the range of double. These include those that have
// no tree: their Z over Wide is 0.
__device__ void answer_wide(const InferenceArgs& args, int b, unsigned char* memory, Wide* slot,
                            SentenceFacts& facts) {
  const SentenceOutput out(args, b);
  const int n = out.n;
  const bool single = out.single();
  Vectors v = vectors_of(memory, n);
  choose_scales(EdgeReader(args.batch, b, n), n, single, v, facts);
  if (threadIdx.x == 0) v.scale[0] = facts.root_scale;
  __syncthreads();
  const FoldedChart<Wide> c(n, single, slot, slot + chart_cells(n, single, kInsideSquares));
  const ScaledWeight weight{EdgeReader(args.batch, b, n), v.scale};
  load_weights<WideOps>(n, c, [&](int h, int m) { return weight.wide(h, m); });
  inside<WideOps>(c, [](const auto&...) {});
  const Wide z = total<WideOps>(c);
  if (z.is_zero()) {
    if (threadIdx.x == 0) *out.outcome() = {kNoTree, -1, -1};
    if (args.total) answer_failure(args, b, n);
    return;
  }
  if (threadIdx.x == 0) {
    *out.outcome() = {kOk, -1, -1};
    facts.mantissa = args.summary.mantissa[b] = z.mantissa();
    facts.exponent = args.summary.exponent[b] = static_cast<double>(z.exponent());
    write_log_partition(args, b, facts, kInWide);
  }
  write_vectors<WideOps>(out, c, z, v.scale, facts.root_scale);
  if (!args.reverse) return;
  const MarginalWriter writer(args, out, v.scale, facts.root_scale);
  write_marginals<WideOps>(c, z, writer);
  if (!writer.with_entropy) return;
  // As on the host: what all trees have in common may be as large as a mask.
  using Entry = detail::DivergenceEntry<detail::Divergence::kCrossEntropy>;
  Entry* entries = reinterpret_cast<Entry*>(slot);
  const FoldedChart<Entry> e(n, single, entries, entries + kInsideSquares * c.square());
  __syncthreads();
  load_weights<SumProduct<Entry>>(n, e, [&](int h, int m) {
    const Wide w = weight.wide(h, m);
    return Entry(detail::WideEntry{w, w, 0});
  });
  inside<SumProduct<Entry>>(e, [](const auto&...) {});
  if (threadIdx.x == 0) write_entropy(args, b, -total<SumProduct<Entry>>(e).gap);
}

__global__ void __launch_bounds__(kWideThreads)
    wide_chart_kernel(const __grid_constant__ InferenceArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  for_sentences(
      static_cast<int>(args.batch.size),
      [&](int b) {
        const std::int32_t status = args.summary.outcomes[b].status;
        if (args.eliminate) return status == kCudaOutOfRange;
        return status == kOk && args.summary.scalar[b] == kInWide;
      },
      [&](int b) {
        answer_wide(args, b, memory, args.wide.data + blockIdx.x * args.wide.stride, facts);
      });
}

}  // namespace

void take_infer_memory(Arena& arena, const Limits& limits, InferenceArgs& args) {
  const ChartBlock block(args.batch, limits, sizeof(double));
  args.matrix_stride = block.slot_bytes;
  args.matrices = block.take(arena);
  args.wide = take_wide_slots(arena, limits, args.batch, kWideSquares);
}

void infer(InferenceArgs args, Precision /*precision*/, const Limits& limits, void* stream) {
  if (args.batch.size == 0) return;
  const ChartBlock block(args.batch, limits, sizeof(double));
  for_place(block.place, [&]<Place kPlace>() {
    launch(&chart_kernel<kPlace>, static_cast<unsigned>(block.blocks),
           static_cast<unsigned>(block.threads), block.bytes, stream, args);
  });
  const auto blocks = std::min(args.batch.size, static_cast<std::size_t>(args.wide.count));
  launch(&wide_chart_kernel, static_cast<unsigned>(blocks), kWideThreads,
         vector_bytes(args.batch.max_n, kWideThreads), stream, args);
}

}  // namespace taproot::cuda::projective
