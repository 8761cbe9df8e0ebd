// SPDX-License-Identifier: Apache-2.0
#include "cuda/engine.h"

#include "cuda/core/counter.h"
#include "cuda/family.h"
#include "cuda/query/kept.h"
#include "cuda/sample/without_replacement/beam.h"

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
  cuda::kernels_of(args.batch.family).infer(args, precision, limits, stream);
}

void Cuda::Impl::eliminate(const Batch& batch, const Known& known, const Wanted& wanted,
                           void* stream) {
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        InferenceArgs args = inference_args(piece, known, wanted);
        args.factors = factors_of(arena, piece, known, false);
        cuda::kernels_of(batch.family).take_infer_memory(arena, limits, args);
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
        cuda::kernels_of(batch.family).take_infer_memory(arena, limits, args);
        return args;
      },
      [&](const Batch&, const InferenceArgs& args) { infer(args, stream); });
}

void Cuda::Impl::hessian_product(const Batch& batch, const Known& known,
                                 const ConstCudaEdges& direction, const CudaEdges& out,
                                 void* stream) {
  const bool kept = known.has_factors() && precision == Precision::kFloat64;
  const cuda::FamilyKernels& kernels = cuda::kernels_of(batch.family);
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        return kernels.take_hessian(arena, limits, piece, slice(known.summary, piece),
                                    kept ? slice(known.factors, piece) : Factors(),
                                    cuda::slice(direction, piece.first),
                                    cuda::slice(out, piece.first));
      },
      [&](const Batch&, const cuda::HessianQuestion& question) {
        if (!kept) eliminations.fetch_add(1, std::memory_order_relaxed);
        kernels.hessian_product(question, limits, stream);
      });
}

void Cuda::Impl::sample(const Batch& batch, const Known& known, int k, std::uint64_t seed,
                        std::uint32_t first_tree, CudaOutcome* outcomes, const CudaTreeBuffer& out,
                        void* stream) {
  const cuda::FamilyKernels& kernels = cuda::kernels_of(batch.family);
  struct Args {
    InferenceArgs infer;
    cuda::SampleArgs sample;
  };
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        Args args;
        args.infer = inference_args(piece, known, {});
        args.infer.factors = factors_of(arena, piece, known, true);
        if (!known.has_factors()) kernels.take_infer_memory(arena, limits, args.infer);
        cuda::SampleArgs& s = args.sample;
        s.batch = piece;
        s.summary = args.infer.summary;
        s.summary.outcomes =
            outcomes != nullptr ? outcomes + piece.first : arena.take<CudaOutcome>(piece.size);
        s.factors = args.infer.factors;
        s.seed = seed;
        s.first_tree = first_tree;
        s.trees = k;
        s.counter = counters.data();
        s.out = out;
        s.out.heads += static_cast<std::ptrdiff_t>(piece.first) * out.sentence_stride;
        kernels.take_sample_memory(arena, limits, s);
        return args;
      },
      [&](const Batch& piece, const Args& args) {
        if (!known.has_factors()) infer(args.infer, stream);
        cuda::launch_outcomes_of_factors(piece, args.infer.summary, args.sample.summary.outcomes,
                                         stream);
        kernels.sample(args.sample, limits, stream);
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
