// SPDX-License-Identifier: Apache-2.0
#include "cuda/engine.h"

#include "cuda/core/counter.h"
#include "cuda/query/hessian.h"
#include "cuda/query/kept.h"
#include "cuda/query/wide.h"
#include "cuda/sample/sample.h"
#include "cuda/sample/without_replacement/beam.h"
#include "sample/walk/alias.h"

namespace taproot {

using cuda::Arena;
using cuda::Batch;

namespace {

using cuda::Factors;
using cuda::InferenceArgs;
using cuda::Known;
using cuda::Wanted;

/// The factors of a piece: those that are kept, or new ones in the workspace.
Factors factors_of(Arena& arena, const Batch& piece, const Known& known, bool with_factors) {
  return known.has_factors() ? slice(known.factors, piece)
                             : take_factors(arena, piece, false, with_factors);
}

InferenceArgs inference_args(const Batch& piece, const Known& known, const Wanted& wanted) {
  InferenceArgs args;
  args.batch = piece;
  args.summary = slice(known.summary, piece);
  args.reverse = wanted.reverse;
  const std::size_t first = piece.first - wanted.first;
  args.log_partition = cuda::slice_numbers(wanted.log_partition, first);
  args.entropy = cuda::slice_numbers(wanted.entropy, first);
  args.marginals[0] = cuda::slice(wanted.marginals, first);
  args.marginals[1] = cuda::slice(known.marginals, piece.first);
  return args;
}

int current_device() {
  int device = 0;
  TAPROOT_CUDA(cudaGetDevice(&device));
  return device;
}

}  // namespace

Cuda::Impl::Impl(Precision p)
    : precision(p),
      device(current_device()),
      limits(cuda::Limits::of_current_device()),
      pool(device) {
  std::size_t free = 0;
  std::size_t total = 0;
  TAPROOT_CUDA(cudaMemGetInfo(&free, &total));
  workspace_limit = std::min(free / 2, std::size_t{16} << 30);
  TAPROOT_CUDA(cudaStreamCreateWithFlags(&host_stream, cudaStreamNonBlocking));
  launched_before = cuda::launch_counter().load();
  TAPROOT_CUDA(cudaMemset(counters.resize(2), 0, 2 * sizeof(std::uint64_t)));
}

Cuda::Impl::~Impl() {
  if (host_stream != nullptr) cudaStreamDestroy(host_stream);
}

void Cuda::Impl::infer(const InferenceArgs& args, void* stream) {
  if (args.eliminate) eliminations.fetch_add(1, std::memory_order_relaxed);
  cuda::infer(args, precision, limits, stream);
}

void Cuda::Impl::eliminate(const Batch& batch, const Known& known, const Wanted& wanted,
                           void* stream) {
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        InferenceArgs args = inference_args(piece, known, wanted);
        args.factors = factors_of(arena, piece, known, false);
        cuda::take_infer_memory(arena, limits, args);
        return args;
      },
      [&](const Batch&, const InferenceArgs& args) { infer(args, stream); });
}

void Cuda::Impl::reverse(const Batch& batch, const Known& known, const Wanted& wanted,
                         void* stream) {
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        InferenceArgs args = inference_args(piece, known, wanted);
        args.eliminate = false;
        args.reverse = true;
        args.factors = slice(known.factors, piece);
        cuda::take_infer_memory(arena, limits, args);
        return args;
      },
      [&](const Batch&, const InferenceArgs& args) { infer(args, stream); });
}

void Cuda::Impl::hessian_product(const Batch& batch, const Known& known,
                                 const ConstCudaEdges& direction, const CudaEdges& out,
                                 void* stream) {
  // In double whatever the precision, since derivatives are differences. Kept factors do if they
  // are in double.
  const bool kept = known.has_factors() && precision == Precision::kFloat64;
  const cuda::Shape wide = limits.shape(batch.max_n, sizeof(double));
  struct Args {
    InferenceArgs infer;
    cuda::HessianArgs hessian;
  };
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        const std::size_t cells =
            piece.size * static_cast<std::size_t>(piece.nodes() * piece.nodes());
        Args args;
        InferenceArgs& infer = args.infer;
        infer.batch = piece;
        infer.eliminate = !kept;
        infer.reverse = true;
        if (kept) {
          infer.summary = slice(known.summary, piece);
          infer.summary.entropy = nullptr;
          infer.factors = slice(known.factors, piece);
        } else {
          infer.summary = take_summary(arena, piece);
          infer.summary.entropy = nullptr;
          infer.factors = take_factors(arena, piece, false, true);
        }
        infer.gradient = arena.take<double>(cells);
        cuda::take_matrices(arena, piece, wide, infer);
        cuda::HessianArgs& h = args.hessian;
        h.batch = piece;
        h.summary = infer.summary;
        h.factors = infer.factors;
        h.gradient = infer.gradient;
        h.direction = cuda::slice(direction, piece.first);
        h.out = cuda::slice(out, piece.first);
        for (double** matrix : {&h.values, &h.tangent, &h.gradient_tangent}) {
          *matrix = arena.take<double>(cells);
        }
        h.wide = cuda::take_wide_slots(arena, limits, piece, cuda::kWideHessianMatrices);
        return args;
      },
      [&](const Batch&, const Args& args) {
        if (!kept) eliminations.fetch_add(1, std::memory_order_relaxed);
        cuda::launch_inference<double>(args.infer, wide, stream);
        cuda::launch_hessian(args.hessian, limits.most_shared, stream);
        cuda::launch_wide_hessian(args.hessian, stream);
      });
}

void Cuda::Impl::sample(const Batch& batch, const Known& known, int k, std::uint64_t seed,
                        std::uint32_t first_tree, CudaOutcome* outcomes, const CudaTreeBuffer& out,
                        void* stream) {
  const auto nodes = static_cast<std::size_t>(batch.nodes());
  const auto words = static_cast<std::size_t>(detail::alias_words(batch.max_n + 1));
  struct Args {
    InferenceArgs infer;
    cuda::SampleArgs sample;
  };
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        const std::size_t size = piece.size;
        Args args;
        args.infer = inference_args(piece, known, {});
        args.infer.factors = factors_of(arena, piece, known, true);
        if (!known.has_factors()) cuda::take_infer_memory(arena, limits, args.infer);
        cuda::SampleArgs& s = args.sample;
        s.batch = piece;
        s.summary = args.infer.summary;
        s.summary.outcomes =
            outcomes != nullptr ? outcomes + piece.first : arena.take<CudaOutcome>(size);
        s.factors = args.infer.factors;
        s.seed = seed;
        s.first_tree = first_tree;
        s.trees = k;
        s.slots = arena.take<std::uint64_t>(size * nodes * nodes * words);
        s.root_slots = arena.take<std::uint64_t>(size * nodes * words);
        s.shares = arena.take<double>(size * nodes * nodes);
        s.direct = arena.take<double>(size * nodes * nodes);
        s.given_up = arena.take<std::int32_t>(size);
        s.list_size = arena.take<std::int32_t>(1);
        s.list = arena.take<std::int64_t>(size * static_cast<std::size_t>(k));
        s.list_root = arena.take<std::int32_t>(size * static_cast<std::size_t>(k));
        s.scratch = arena.take<double>(cuda::sample_scratch_doubles(s));
        s.counter = counters.data();
        s.out = out;
        s.out.heads += static_cast<std::ptrdiff_t>(piece.first) * out.sentence_stride;
        return args;
      },
      [&](const Batch& piece, const Args& args) {
        if (!known.has_factors()) infer(args.infer, stream);
        cuda::launch_outcomes_of_factors(piece, args.infer.summary, args.sample.summary.outcomes,
                                         stream);
        cuda::launch_sample(args.sample, stream);
      });
}

void Cuda::Impl::beam(const Batch& batch, int k, std::uint64_t seed, CudaOutcome* outcomes,
                      const CudaWithoutReplacement& out, void* stream) {
  cuda::Shape wide = limits.shape(batch.max_n, sizeof(double));
  // With few sentences it counts how soon a block is done, not how many blocks fit.
  constexpr std::size_t kFew = 128;
  if (batch.size <= kFew) wide.threads = 512;
  wide.shared = cuda::Layout(batch.max_n, wide.threads, wide.chunk, sizeof(double), true).bytes <=
                limits.most_shared;
  const bool narrow =
      precision == Precision::kFloat32 && cuda::beam_can_be_narrow(batch.max_n, limits.most_shared);
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        cuda::BeamArgs args = cuda::take_beam(arena, piece, k, narrow);
        cuda::take_matrices(arena, piece, wide, args.c);
        args.c.outcomes = outcomes + piece.first;
        args.seed = seed;
        args.counter = counters.data() + 1;
        args.out = cuda::slice(out, piece.first, static_cast<std::size_t>(k));
        return args;
      },
      [&](const Batch&, const cuda::BeamArgs& args) {
        eliminations.fetch_add(1, std::memory_order_relaxed);
        cuda::launch_beam(args, wide, limits.has_clusters, stream);
      });
}

}  // namespace taproot
