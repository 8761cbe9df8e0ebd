// SPDX-License-Identifier: Apache-2.0
#include "cuda/engine.h"

#include "cuda/core/counter.h"
#include "cuda/family.h"
#include "cuda/query/kept.h"
#include "cuda/query/log_prob.h"
#include "cuda/sample/without_replacement/beam.h"
#include "cuda/sample/without_replacement/skip.h"

namespace taproot {

using cuda::Arena;
using cuda::Batch;
using cuda::Known;
using cuda::SampleQuestion;

namespace {

using cuda::Factors;
using cuda::InferenceArgs;
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
  args.eliminate = wanted.eliminate;
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
  constexpr std::size_t kBytes = 2 * sizeof(std::uint64_t);
  void* memory = nullptr;
  TAPROOT_CUDA(cudaMalloc(&memory, kBytes));
  counters.reset(static_cast<std::uint64_t*>(memory));
  TAPROOT_CUDA(cudaMemset(memory, 0, kBytes));
}

Cuda::Impl::~Impl() {
  if (host_stream != nullptr) cudaStreamDestroy(host_stream);
}

void Cuda::Impl::launch(const InferenceArgs& args, void* stream) {
  if (args.eliminate) eliminations.fetch_add(1, std::memory_order_relaxed);
  cuda::kernels_of(args.batch.family).infer(args, precision, limits, stream);
}

void Cuda::Impl::infer(const Batch& batch, const Known& known, const Wanted& wanted, void* stream) {
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        InferenceArgs args = inference_args(piece, known, wanted);
        args.factors = factors_of(arena, piece, known, false);
        cuda::kernels_of(batch.family).take_infer_memory(arena, limits, args);
        return args;
      },
      [&](const Batch&, const InferenceArgs& args) { launch(args, stream); });
}

void Cuda::Impl::hessian_product(const Batch& batch, const Known& known,
                                 const ConstCudaEdges& direction, const CudaEdges& out,
                                 void* stream) {
  const bool kept = known.has_factors() && precision == Precision::kFloat64;
  const cuda::FamilyKernels& kernels = cuda::kernels_of(batch.family);
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        CudaHessian asked;
        asked.direction = cuda::slice(direction, piece.first);
        asked.out = cuda::slice(out, piece.first);
        return kernels.take_hessian(arena, limits, piece, slice(known.summary, piece),
                                    kept ? slice(known.factors, piece) : Factors(), asked);
      },
      [&](const Batch&, const cuda::HessianQuestion& question) {
        if (!kept) eliminations.fetch_add(1, std::memory_order_relaxed);
        kernels.hessian_product(question, limits, stream);
      });
}

SampleQuestion Cuda::Impl::take_sample(Arena& arena, const Batch& piece, const Known& known, int k,
                                       std::uint64_t seed, CudaOutcome* outcomes) {
  const cuda::FamilyKernels& kernels = cuda::kernels_of(piece.family);
  SampleQuestion args;
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
  s.trees = k;
  s.counter = counters.get();
  kernels.take_sample_memory(arena, limits, s);
  return args;
}

void Cuda::Impl::launch(const SampleQuestion& question, const Known& known, void* stream) {
  const cuda::SampleArgs& s = question.sample;
  if (!known.has_factors()) launch(question.infer, stream);
  cuda::launch_outcomes_of_factors(s.batch, question.infer.summary, s.summary.outcomes, stream);
  cuda::kernels_of(s.batch.family).sample(s, limits, stream);
}

void Cuda::Impl::sample(const Batch& batch, const Known& known, int k, std::uint64_t seed,
                        std::uint32_t first_tree, CudaOutcome* outcomes, const CudaHeadBuffer& out,
                        void* stream) {
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        SampleQuestion args = take_sample(arena, piece, known, k, seed, outcomes);
        args.sample.first_tree = first_tree;
        args.sample.out = out;
        args.sample.out.heads =
            static_cast<unsigned char*>(out.heads) +
            static_cast<std::ptrdiff_t>(piece.first) * out.sentence_stride * out.head_bytes;
        return args;
      },
      [&](const Batch&, const SampleQuestion& args) { launch(args, known, stream); });
}

void Cuda::Impl::skip(const Batch& batch, const Known& known, int k, std::uint64_t seed,
                      CudaOutcome* outcomes, const CudaWithoutReplacement& out, void* stream) {
  const std::size_t attempts = cuda::attempts_for(static_cast<std::size_t>(k));
  const auto width = static_cast<std::size_t>(batch.max_n);
  struct Args {
    SampleQuestion question;
    cuda::LogProbArgs log_prob;
    cuda::SkipArgs skip;
  };
  in_pieces(
      batch, stream,
      [&](Arena& arena, const Batch& piece) {
        Args args;
        args.question =
            take_sample(arena, piece, known, static_cast<int>(attempts), seed, outcomes);
        cuda::SampleArgs& s = args.question.sample;
        const CudaTreeBuffer sampled{arena.take<std::int32_t>(piece.size * attempts * width),
                                     static_cast<std::ptrdiff_t>(attempts * width),
                                     static_cast<std::ptrdiff_t>(width)};
        s.out = sampled;
        auto* log_prob = arena.take<double>(piece.size * attempts);
        args.log_prob = {piece,
                         args.question.infer.summary,
                         s.trees,
                         sampled,
                         {log_prob, static_cast<std::ptrdiff_t>(attempts), 1}};
        cuda::SkipArgs& skip = args.skip;
        skip.batch = piece;
        skip.seed = seed;
        skip.trees = k;
        skip.attempts = s.trees;
        skip.outcomes = s.summary.outcomes;
        skip.sampled = sampled;
        skip.log_prob = log_prob;
        skip.out = cuda::slice(out, piece.first, static_cast<std::size_t>(k));
        cuda::take_skip_memory(arena, skip);
        return args;
      },
      [&](const Batch&, const Args& args) {
        launch(args.question, known, stream);
        cuda::launch_log_prob(args.log_prob, stream);
        cuda::launch_skip(args.skip, stream);
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
        args.counter = counters.get() + 1;
        args.out = cuda::slice(out, piece.first, static_cast<std::size_t>(k));
        return args;
      },
      [&](const Batch&, const cuda::BeamArgs& args) {
        eliminations.fetch_add(1, std::memory_order_relaxed);
        cuda::launch_beam(args, wide, limits.has_dependent_launch, stream);
      });
}

}  // namespace taproot
