// SPDX-License-Identifier: Apache-2.0
//
// Trees of a batch in device memory: log p of given ones, decoded ones and samples.
#include "cuda/core/require.h"
#include "cuda/query/log_prob.h"
#include "cuda/sample/without_replacement/beam.h"
#include "cuda/trees_impl.h"

namespace taproot {

using cuda::Batch;

void CudaDependencyTrees::log_prob(std::size_t k, const CudaTreeBuffer& trees,
                                   const CudaTreeValues& out, void* stream) {
  constexpr const char* kName = "CudaDependencyTrees::log_prob";
  Impl& i = *impl_;
  const int count = cuda::tree_count(k, kName);
  i.ask((trees.heads != nullptr && out.data != nullptr) || k == 0, kName, stream, [&] {
    i.need_factors();
    if (!i.fits) return;
    i.engine->in_pieces(
        i.batch, i.stream,
        [&](cuda::Arena&, const Batch& piece) {
          const auto first = static_cast<std::ptrdiff_t>(piece.first);
          cuda::LogProbArgs args{piece, slice(i.known.summary, piece), count, trees, out};
          args.heads.heads += first * trees.sentence_stride;
          args.out.data += first * out.sentence_stride;
          return args;
        },
        [&](const Batch&, const cuda::LogProbArgs& args) { launch_log_prob(args, i.stream); });
  });
}

void CudaDependencyTrees::argmax(CudaOutcome* outcomes, const CudaTreeBuffer& out,
                                 const CudaNumbers& score, void* stream) {
  Impl& i = *impl_;
  const bool has_memory = out.heads != nullptr || i.batch.max_n == 0;
  i.ask(has_memory, "CudaDependencyTrees::argmax", stream, [&] {
    if (!i.fits) {
      if (outcomes != nullptr) cuda::launch_refusal(outcomes, i.batch.size, i.stream);
      return;
    }
    cuda::ArgmaxArgs args;
    args.batch = i.batch;
    args.outcomes = outcomes;
    args.out = out;
    args.score = score;
    i.launch_argmax(args);
  });
}

void CudaDependencyTrees::mbr(const CudaTreeBuffer& out, void* stream) {
  Impl& i = *impl_;
  const bool has_memory = out.heads != nullptr || i.batch.max_n == 0;
  i.ask(has_memory, "CudaDependencyTrees::mbr", stream, [&] {
    i.with_marginals([&](const Batch& piece, const CudaEdges& marginals) {
      cuda::ArgmaxArgs args;
      args.batch = piece;
      args.values = {marginals.data,        marginals.is_double,       marginals.sentence_stride,
                     marginals.head_stride, marginals.modifier_stride, marginals.offsets};
      args.known = i.known.summary.outcomes + piece.first;
      args.out = out;
      args.out.heads = out.heads + static_cast<std::ptrdiff_t>(piece.first) * out.sentence_stride;
      i.launch_argmax(args);
    });
  });
}

void CudaDependencyTrees::sample(std::size_t k, std::uint64_t seed, std::uint32_t first_tree,
                                 CudaOutcome* outcomes, const CudaHeadBuffer& out, void* stream) {
  constexpr const char* kName = "CudaDependencyTrees::sample";
  Impl& i = *impl_;
  cuda::require_head_size(out, i.batch.max_n, kName);
  const int count = cuda::tree_count(k, kName);
  const bool nothing = k == 0 || i.batch.max_n == 0;
  i.ask(out.heads != nullptr || nothing, kName, stream, [&] {
    if (i.keep || !i.fits || nothing) i.need_factors();
    if (!i.fits || nothing) {
      if (outcomes == nullptr) return;
      return cuda::launch_outcomes_of_factors(i.batch, i.known.summary, outcomes, i.stream);
    }
    i.engine->sample(i.batch, i.known, count, seed, first_tree, outcomes, out, i.stream);
    i.eliminated = true;
  });
}

void CudaDependencyTrees::sample_without_replacement(std::size_t k,
                                                     WithoutReplacementAlgorithm algorithm,
                                                     std::uint64_t seed, CudaOutcome* outcomes,
                                                     const CudaWithoutReplacement& out,
                                                     void* stream) {
  constexpr const char* kName = "CudaDependencyTrees::sample_without_replacement";
  Impl& i = *impl_;
  const int count = cuda::tree_count(k, kName);
  const bool has_memory =
      (out.trees.heads != nullptr && out.log_prob != nullptr && out.gumbel != nullptr) || k == 0;
  const bool has_vectors = outcomes != nullptr && out.kappa != nullptr && out.count != nullptr;
  const bool by_beam = algorithm == WithoutReplacementAlgorithm::kBeam;
  detail::require(by_beam || algorithm == WithoutReplacementAlgorithm::kAuto, kName,
                  "a device samples without replacement by the algorithms auto and beam alone");
  detail::require(!by_beam || i.batch.family == TreeFamily::kAll, kName,
                  "a device has no beam for projective trees: use the algorithm auto");
  i.ask(has_memory && has_vectors, kName, stream, [&] {
    if (!by_beam && i.fits) {
      if (i.keep || i.batch.max_n == 0) i.need_factors();
      if (i.batch.max_n == 0) {
        return cuda::launch_outcomes_of_factors(i.batch, i.known.summary, outcomes, i.stream);
      }
      i.engine->skip(i.batch, i.known, count, seed, outcomes, out, i.stream);
      i.eliminated = true;
      return;
    }
    if (!i.fits || cuda::beam_chunk(i.batch.max_n) == 0) {
      return cuda::launch_refusal(outcomes, i.batch.size, i.stream);
    }
    i.engine->beam(i.batch, count, seed, outcomes, out, i.stream);
  });
}

}  // namespace taproot
