// SPDX-License-Identifier: Apache-2.0
#include "cuda/engine.h"

#include <algorithm>

#include "cuda/core/arena.h"
#include "cuda/core/counter.h"
#include "cuda/query/hessian.h"
#include "cuda/query/inference.h"
#include "cuda/sample/sample.h"
#include "cuda/sample/without_replacement/beam.h"
#include "sample/walk/alias.h"

namespace taproot {
namespace cuda {

Batch slice(const Batch& batch, int begin, int count) {
  Batch part = batch;
  part.size = count;
  if (batch.lengths != nullptr) part.lengths += begin;
  if (batch.offsets != nullptr) {
    part.offsets += begin;
  } else {
    const std::int64_t shift = begin * batch.sentence_stride;
    part.data = batch.is_double
                    ? static_cast<const void*>(static_cast<const double*>(batch.data) + shift)
                    : static_cast<const void*>(static_cast<const float*>(batch.data) + shift);
  }
  return part;
}

Batch batch_of(const CudaScores& scores) {
  return {scores.data,
          scores.is_double,
          scores.root == RootRule::kSingle,
          static_cast<int>(scores.size),
          scores.max_n,
          scores.lengths,
          nullptr,
          scores.sentence_stride,
          scores.head_stride,
          scores.modifier_stride};
}

namespace {

std::size_t square(const Batch& batch) {
  const std::size_t nodes = static_cast<std::size_t>(batch.max_n) + 1;
  return nodes * nodes;
}

// The weights, and the matrix where shared memory cannot hold it.
template <typename Args>
void take_matrices(Arena& arena, const Batch& batch, const Shape& shape, std::size_t scalar,
                   Args& args, double*& weights) {
  weights = arena.take<double>(static_cast<std::size_t>(batch.size) * square(batch));
  args.matrix_stride = (static_cast<std::int64_t>(batch.max_n) + 1) * ((batch.max_n + 1) | 1);
  args.matrices =
      shape.shared
          ? nullptr
          : arena.take<unsigned char>(static_cast<std::size_t>(batch.size) *
                                      static_cast<std::size_t>(args.matrix_stride) * scalar);
}

// The edges from sentence `begin` on.
void* moved(const CudaEdges& edges, int begin) {
  const std::int64_t shift = begin * edges.sentence_stride;
  return edges.is_double ? static_cast<void*>(static_cast<double*>(edges.data) + shift)
                         : static_cast<void*>(static_cast<float*>(edges.data) + shift);
}
EdgeOutput output_of(const CudaEdges& edges, int begin) {
  return {moved(edges, begin),   edges.is_double,   nullptr,
          edges.sentence_stride, edges.head_stride, edges.modifier_stride};
}

// The sentences that float's range does not fit are done again in double.
void infer(Cuda::Impl& impl, InferenceArgs args, const Shape& narrow, const Shape& wide,
           void* stream) {
  args.only = kEverySentence;
  if (impl.precision == Precision::kFloat32) {
    launch_inference<float>(args, narrow, stream);
    args.only = kOutOfRange;
  }
  launch_inference<double>(args, wide, stream);
}

}  // namespace
}  // namespace cuda

using cuda::Arena;
using cuda::Batch;

Cuda::Impl::Impl(Precision p) : precision(p) {
  TAPROOT_CUDA(cudaGetDevice(&device));
  int shared = 0;
  TAPROOT_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  most_shared = static_cast<std::size_t>(shared) - 2048;  // Some is static.
  int clusters = 0;
  TAPROOT_CUDA(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, device));
  has_clusters = clusters != 0;
  std::size_t free = 0;
  std::size_t total = 0;
  TAPROOT_CUDA(cudaMemGetInfo(&free, &total));
  workspace_limit = std::min(free / 2, std::size_t{16} << 30);
  launched_before = cuda::launch_counter().load();
  TAPROOT_CUDA(cudaMemset(counters.resize(2), 0, 2 * sizeof(std::uint64_t)));
}

cuda::Shape Cuda::Impl::shape(int max_n, std::size_t scalar) const {
  const int chunk = max_n < 32 ? 1 : max_n < 64 ? 2 : max_n < 128 ? 4 : 8;
  const int threads = std::min(512, 128 * chunk);
  const bool shared = cuda::Layout(max_n, threads, chunk, scalar, true).bytes <= most_shared;
  return {chunk, threads, shared, 1};
}

cuda::Shape Cuda::Impl::cluster_shape(int max_n, std::size_t scalar) const {
  const cuda::Shape alone = shape(max_n, scalar);
  const int chunk = max_n < 256 ? 8 : 16;
  if (alone.shared || !has_clusters || max_n >= 512) return alone;
  for (const int size : {2, 4, 8}) {
    const cuda::Layout layout(max_n, alone.threads, chunk, scalar, true, size);
    if (layout.bytes <= most_shared) return {chunk, alone.threads, true, size};
  }
  return alone;
}

bool Cuda::Impl::fits(int max_n) const {
  const cuda::Shape s = shape(max_n, sizeof(double));
  return cuda::Layout(max_n, s.threads, s.chunk, sizeof(double), s.shared).bytes <= most_shared;
}

int Cuda::Impl::sentences_at_once(std::size_t bytes_each, std::size_t size) const {
  constexpr std::size_t kMost = 32768;  // Of a grid's second dimension.
  return static_cast<int>(
      std::min({size, std::max(std::size_t{1}, workspace_limit / bytes_each), kMost}));
}

void Cuda::Impl::log_partition(const Batch& batch, cuda::DeviceOutcome* outcomes, double* log_z,
                               void* stream) {
  marginals(batch, outcomes, {}, nullptr, log_z, stream);
}

void Cuda::Impl::marginals(const Batch& batch, cuda::DeviceOutcome* outcomes, const CudaEdges& out,
                           const std::int64_t* offsets, double* log_z, void* stream) {
  if (batch.size == 0) return;
  if (!fits(batch.max_n)) return cuda::launch_refusal(outcomes, batch.size, stream);
  const cuda::Shape narrow = cluster_shape(batch.max_n, sizeof(float));
  const cuda::Shape wide = cluster_shape(batch.max_n, sizeof(double));
  const auto lay_out = [&](Arena& arena, const Batch& part) {
    cuda::InferenceArgs args{};
    args.batch = part;
    cuda::take_matrices(arena, part, wide, sizeof(double), args, args.weights);
    return args;
  };
  Arena one;
  lay_out(one, cuda::slice(batch, 0, 1));
  const int step = sentences_at_once(one.used(), static_cast<std::size_t>(batch.size));
  for (int begin = 0; begin < batch.size; begin += step) {
    const Batch part = cuda::slice(batch, begin, std::min(step, batch.size - begin));
    Arena size;
    lay_out(size, part);
    Arena arena(workspace(size.used()));
    cuda::InferenceArgs args = lay_out(arena, part);
    args.outcomes = outcomes + begin;
    args.log_z = log_z == nullptr ? nullptr : log_z + begin;
    if (out.data != nullptr) {
      args.marginals = cuda::output_of(out, offsets == nullptr ? begin : 0);
      if (offsets != nullptr) args.marginals.offsets = offsets + begin;
    }
    cuda::infer(*this, args, narrow, wide, stream);
  }
}

void Cuda::Impl::hessian_product(const Batch& batch, const CudaEdges& direction,
                                 cuda::DeviceOutcome* outcomes, const CudaEdges& out,
                                 void* stream) {
  if (batch.size == 0) return;
  if (!fits(batch.max_n) || cuda::hessian_parts(batch.max_n, most_shared) == 0) {
    return cuda::launch_refusal(outcomes, batch.size, stream);
  }
  // In double whatever the precision: derivatives are differences.
  const cuda::Shape wide = shape(batch.max_n, sizeof(double));
  const auto nodes = static_cast<std::size_t>(batch.max_n) + 1;
  const auto lay_out = [&](Arena& arena, const Batch& part, cuda::InferenceArgs& infer) {
    const auto size = static_cast<std::size_t>(part.size);
    infer = {};
    infer.batch = part;
    infer.only = cuda::kEverySentence;
    cuda::take_matrices(arena, part, wide, sizeof(double), infer, infer.weights);
    infer.factors = arena.take<double>(size * nodes * nodes);
    infer.gradient = arena.take<double>(size * nodes * nodes);
    infer.pivots = arena.take<double>(size * nodes);
    infer.order = arena.take<std::int32_t>(size * nodes);
    cuda::HessianArgs args{};
    args.batch = part;
    args.weights = infer.weights;
    args.factors = infer.factors;
    args.gradient = infer.gradient;
    args.pivots = infer.pivots;
    args.order = infer.order;
    args.values = arena.take<double>(size * nodes * nodes);
    args.tangent = arena.take<double>(size * nodes * nodes);
    args.gradient_tangent = arena.take<double>(size * nodes * nodes);
    return args;
  };
  cuda::InferenceArgs infer{};
  Arena one;
  lay_out(one, cuda::slice(batch, 0, 1), infer);
  const int step = sentences_at_once(one.used(), static_cast<std::size_t>(batch.size));
  for (int begin = 0; begin < batch.size; begin += step) {
    const Batch part = cuda::slice(batch, begin, std::min(step, batch.size - begin));
    Arena size;
    lay_out(size, part, infer);
    Arena arena(workspace(size.used()));
    cuda::HessianArgs args = lay_out(arena, part, infer);
    infer.outcomes = outcomes + begin;
    args.outcomes = outcomes + begin;
    args.direction = {cuda::moved(direction, begin), direction.is_double, direction.sentence_stride,
                      direction.head_stride, direction.modifier_stride};
    args.out = cuda::output_of(out, begin);
    cuda::launch_inference<double>(infer, wide, stream);
    cuda::launch_hessian(args, most_shared, stream);
  }
}

void Cuda::Impl::sample(const Batch& batch, int k, std::uint64_t seed, std::uint32_t first_sentence,
                        cuda::DeviceOutcome* outcomes, const CudaTrees& out, int width,
                        void* stream) {
  if (batch.size == 0) return;
  if (!fits(batch.max_n)) return cuda::launch_refusal(outcomes, batch.size, stream);
  const cuda::Shape narrow = shape(batch.max_n, sizeof(float));
  const cuda::Shape wide = shape(batch.max_n, sizeof(double));
  const auto nodes = static_cast<std::size_t>(batch.max_n) + 1;
  const auto words = static_cast<std::size_t>(detail::alias_words(batch.max_n + 1));
  const auto lay_out = [&](Arena& arena, const Batch& part, cuda::InferenceArgs& infer) {
    const auto size = static_cast<std::size_t>(part.size);
    infer = {};
    infer.batch = part;
    cuda::take_matrices(arena, part, wide, sizeof(double), infer, infer.weights);
    infer.factors = arena.take<double>(size * nodes * nodes);
    infer.pivots = arena.take<double>(size * nodes);
    infer.order = arena.take<std::int32_t>(size * nodes);
    infer.root_law = arena.take<double>(size * nodes);
    cuda::SampleArgs args{};
    args.batch = part;
    args.seed = seed;
    args.trees = k;
    args.weights = infer.weights;
    args.factors = infer.factors;
    args.pivots = infer.pivots;
    args.order = infer.order;
    args.root_law = infer.root_law;
    args.slots = arena.take<std::uint64_t>(size * nodes * nodes * words);
    args.root_slots = arena.take<std::uint64_t>(size * nodes * words);
    args.shares = arena.take<double>(size * nodes * nodes);
    args.direct = arena.take<double>(size * nodes * nodes);
    args.given_up = arena.take<std::int32_t>(size);
    args.list_size = arena.take<std::int32_t>(1);
    args.list = arena.take<std::int64_t>(size * static_cast<std::size_t>(k));
    args.list_root = arena.take<std::int32_t>(size * static_cast<std::size_t>(k));
    args.scratch = arena.take<double>(cuda::sample_scratch_doubles(args));
    return args;
  };
  cuda::InferenceArgs infer{};
  Arena one;
  lay_out(one, cuda::slice(batch, 0, 1), infer);
  const int step = sentences_at_once(one.used(), static_cast<std::size_t>(batch.size));
  for (int begin = 0; begin < batch.size; begin += step) {
    const Batch part = cuda::slice(batch, begin, std::min(step, batch.size - begin));
    Arena size;
    lay_out(size, part, infer);
    Arena arena(workspace(size.used()));
    cuda::SampleArgs args = lay_out(arena, part, infer);
    infer.outcomes = outcomes + begin;
    args.outcomes = outcomes + begin;
    args.first_sentence = first_sentence + static_cast<std::uint32_t>(begin);
    args.counter = counters.data();
    args.out = out.heads + begin * out.sentence_stride;
    args.out_sentence_stride = out.sentence_stride;
    args.out_tree_stride = out.tree_stride;
    args.out_width = width;
    cuda::infer(*this, infer, narrow, wide, stream);
    cuda::launch_sample(args, stream);
  }
}

void Cuda::Impl::beam(const Batch& batch, int k, std::uint64_t seed, std::uint32_t first_sentence,
                      cuda::DeviceOutcome* outcomes, const CudaWithoutReplacement& out, int width,
                      void* stream) {
  if (batch.size == 0) return;
  const int chunk = cuda::beam_chunk(batch.max_n);
  if (chunk == 0 || !fits(batch.max_n)) {
    return cuda::launch_refusal(outcomes, batch.size, stream);
  }
  cuda::Shape wide = shape(batch.max_n, sizeof(double));
  // With few sentences what counts is how soon a block is done, not how many fit.
  constexpr int kFew = 128;
  if (batch.size <= kFew) wide.threads = 512;
  wide.shared = cuda::Layout(batch.max_n, wide.threads, wide.chunk, sizeof(double), true).bytes <=
                most_shared;
  const auto nodes = static_cast<std::size_t>(batch.max_n) + 1;
  const std::size_t ld = (nodes + 3) / 4 * 4;
  const auto contraction = static_cast<std::size_t>(cuda::exact_scratch(batch.max_n));
  const bool narrow =
      precision == Precision::kFloat32 && cuda::beam_can_be_narrow(batch.max_n, most_shared);
  constexpr int kMostSlots = 1056;
  const auto lay_out = [&](Arena& arena, const Batch& part) {
    const auto size = static_cast<std::size_t>(part.size);
    const std::size_t states = size * (static_cast<std::size_t>(k) + 1);
    cuda::BeamArgs args{};
    cuda::ConditionalsArgs& c = args.c;
    c.batch = part;
    c.ld = static_cast<int>(ld);
    cuda::take_matrices(arena, part, wide, sizeof(double), c, c.scaled);
    c.weights = arena.take<double>(size * nodes * ld);
    c.by_head = arena.take<double>(size * nodes * ld);
    if (narrow) {
      c.narrow_by_head = arena.take<float>(size * nodes * ld);
    } else {
      c.gradient = arena.take<double>(size * nodes * ld);
    }
    args.narrow = narrow;
    for (double** vector : {&c.sums, &c.tree_sum, &c.top, &c.visits, &c.roots, &c.scale}) {
      *vector = arena.take<double>(size * ld);
    }
    c.word = arena.take<std::int32_t>(size * ld);
    c.facts = arena.take<double>(size * cuda::kFacts);
    args.seed = seed;
    args.width = k + 1;
    args.trees = k;
    for (int i = 0; i < 2; ++i) {
      args.gumbel[i] = arena.take<double>(states);
      args.log_p[i] = arena.take<double>(states);
      args.visits[i] = arena.take<double>(states);
      args.amplification[i] = arena.take<double>(states);
      args.sink[i] = arena.take<std::int32_t>(states);
      args.anchor[i] = arena.take<std::int32_t>(states);
      args.leads[i] = arena.take<std::uint16_t>(states * ld);
      args.path[i] = arena.take<cuda::Step>(states * nodes);
      args.steps[i] =
          arena.take<cuda::Step>(states * static_cast<std::size_t>(cuda::block_words(chunk)));
    }
    if (!narrow) {
      args.rows = arena.take<double>(nodes * states * ld);
      args.partial =
          arena.take<double>(states * static_cast<std::size_t>(cuda::block_words(chunk)) * ld);
    }
    args.child_head = arena.take<std::int32_t>(states * nodes);
    args.last = arena.take<double>(states);
    args.bound = arena.take<double>(states);
    args.list_gumbel = arena.take<double>(states * nodes);
    args.list_log_p = arena.take<double>(states * nodes);
    args.list_state = arena.take<std::int32_t>(states * nodes);
    args.list_head = arena.take<std::int32_t>(states * nodes);
    args.list_size = arena.take<std::int32_t>(size);
    args.selected = arena.take<std::int32_t>(states + size);  // One more for each sentence.
    for (std::int32_t** vector : {&args.parent, &args.head, &args.child_count}) {
      *vector = arena.take<std::int32_t>(states);
    }
    args.states = arena.take<std::int32_t>(size);
    args.exact = arena.take<std::int32_t>(size);
    args.bar = arena.take<double>(size);
    args.slots = std::min(kMostSlots, cuda::beam_blocks(args) * part.size);
    args.scratch = arena.take<double>(static_cast<std::size_t>(args.slots) * contraction);
    args.locks = arena.take<std::int32_t>(static_cast<std::size_t>(args.slots));
    args.select_scratch = arena.take<double>(size * cuda::kSelectWarps * contraction);
    return args;
  };
  Arena one;
  lay_out(one, cuda::slice(batch, 0, 1));
  const int step = sentences_at_once(one.used(), static_cast<std::size_t>(batch.size));
  for (int begin = 0; begin < batch.size; begin += step) {
    const Batch part = cuda::slice(batch, begin, std::min(step, batch.size - begin));
    Arena size;
    lay_out(size, part);
    Arena arena(workspace(size.used()));
    cuda::BeamArgs args = lay_out(arena, part);
    args.c.outcomes = outcomes + begin;
    args.first_sentence = first_sentence + static_cast<std::uint32_t>(begin);
    args.counter = counters.data() + 1;
    args.out = out.trees.heads + begin * out.trees.sentence_stride;
    args.out_sentence_stride = out.trees.sentence_stride;
    args.out_tree_stride = out.trees.tree_stride;
    args.out_width = width;
    args.out_log_prob = out.log_prob + static_cast<std::ptrdiff_t>(begin) * k;
    args.out_gumbel = out.gumbel + static_cast<std::ptrdiff_t>(begin) * k;
    args.out_kappa = out.kappa + begin;
    args.out_count = out.count + begin;
    cuda::launch_beam(args, wide, has_clusters, stream);
  }
}

}  // namespace taproot
