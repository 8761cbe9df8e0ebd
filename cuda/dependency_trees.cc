// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a batch in device memory.
#include "cuda/core/require.h"
#include "cuda/trees_impl.h"

namespace taproot {

using cuda::Batch;
using cuda::require_scores;

CudaDependencyTrees::CudaDependencyTrees(Cuda& cuda, const CudaScores& scores, bool keep) {
  require_scores(scores, "CudaDependencyTrees");
  impl_ = std::make_unique<Impl>(CudaAccess::impl(cuda), scores, keep);
}
CudaDependencyTrees::~CudaDependencyTrees() = default;
CudaDependencyTrees::CudaDependencyTrees(CudaDependencyTrees&&) noexcept = default;
CudaDependencyTrees& CudaDependencyTrees::operator=(CudaDependencyTrees&&) noexcept = default;

const CudaScores& CudaDependencyTrees::scores() const { return impl_->batch; }

void CudaDependencyTrees::outcomes(CudaOutcome* out, void* stream) {
  Impl& i = *impl_;
  i.ask(out != nullptr, "CudaDependencyTrees::outcomes", stream, [&] {
    i.need_factors();
    TAPROOT_CUDA(cudaMemcpyAsync(out, i.known.summary.outcomes, i.batch.size * sizeof *out,
                                 cudaMemcpyDeviceToDevice, i.stream));
  });
}

void CudaDependencyTrees::log_partition(double* out, void* stream) {
  Impl& i = *impl_;
  i.ask(out != nullptr, "CudaDependencyTrees::log_partition", stream, [&] {
    if (!i.eliminated) return i.find({.log_partition = {out}});
    const cuda::Summary& known = i.known.summary;
    cuda::launch_copy(i.batch, known.outcomes, known.log_partition, out, i.stream);
  });
}

void CudaDependencyTrees::entropy(double* out, void* stream) {
  Impl& i = *impl_;
  i.ask(out != nullptr, "CudaDependencyTrees::entropy", stream, [&] {
    if (!i.has_marginals()) return i.find({.reverse = true, .entropy = {out}});
    const cuda::Summary& known = i.known.summary;
    cuda::launch_copy(i.batch, known.outcomes, known.entropy, out, i.stream);
  });
}

void CudaDependencyTrees::marginals(const CudaEdges& out, void* stream) {
  Impl& i = *impl_;
  i.ask(out.data != nullptr, "CudaDependencyTrees::marginals", stream, [&] {
    if (!i.has_marginals()) return i.find({.reverse = true, .marginals = out});
    cuda::launch_copy(i.batch, i.known.summary.outcomes, i.known.marginals, out, i.stream);
  });
}

void CudaDependencyTrees::root_marginals(double* out, void* stream) {
  Impl& i = *impl_;
  i.ask(out != nullptr, "CudaDependencyTrees::root_marginals", stream, [&] {
    // Single-root, their law comes with the factors.
    if (i.batch.single() && i.keep) {
      i.need_factors();
    } else if (!i.reversed) {
      i.find({.reverse = true});
    }
    cuda::launch_copy_root_law(i.batch, i.known.summary, out, i.stream);
  });
}

void CudaDependencyTrees::hessian_product(const ConstCudaEdges& direction, const CudaEdges& out,
                                          void* stream) {
  Impl& i = *impl_;
  i.ask(direction.data != nullptr && out.data != nullptr, "CudaDependencyTrees::hessian_product",
        stream, [&] {
          // Factors in float32 are of no use to it.
          const bool in_double = i.engine->precision == Precision::kFloat64;
          if ((i.keep && in_double) || !i.fits) i.need_factors();
          if (i.fits) i.engine->hessian_product(i.batch, i.known, direction, out, i.stream);
        });
}

void CudaDependencyTrees::expectation(const ConstCudaEdges& values, double* out, void* stream) {
  Impl& i = *impl_;
  i.ask(values.data != nullptr && out != nullptr, "CudaDependencyTrees::expectation", stream, [&] {
    i.with_marginals([&](const Batch& piece, const CudaEdges& marginals) {
      const cuda::ExpectationArgs args{piece, slice(i.known.summary, piece), marginals,
                                       cuda::slice(values, piece.first), out + piece.first};
      cuda::launch_expectation(args, i.stream);
    });
  });
}

void CudaDependencyTrees::Impl::compare(Impl& q, detail::Divergence kind, const char* function,
                                        double* out, void* on) {
  const auto require = [=](bool condition, const char* what) {
    detail::require(condition, function, what);
  };
  require(engine->device == q.engine->device, "the two batches are on different devices");
  require(batch.size == q.batch.size, "the two batches differ in size");
  require(batch.max_n == q.batch.max_n, "the two batches differ in max_n");
  require(batch.root == q.batch.root, "the two batches differ in their root rule");
  require(batch.family == q.batch.family,
          "on a device, projective trees are compared with projective trees only: use the CPU");
  ask_with(q, out != nullptr, function, on, [&] {
    if (&q != this) q.need_factors();
    with_marginals([&](const Batch& piece, const CudaEdges& marginals) {
      cuda::DivergenceArgs args;
      args.kind = kind;
      args.p = piece;
      args.q = slice(q.batch, piece.first, piece.size);
      args.p_summary = slice(known.summary, piece);
      args.q_summary = slice(q.known.summary, piece);
      args.marginals = marginals;
      args.out = out + piece.first;
      const cuda::FamilyKernels& kernels = cuda::kernels_of(batch.family);
      const cuda::DeviceBlock workspace = cuda::take_block(
          engine->pool, stream,
          [&](cuda::Arena& arena) { kernels.take_divergence_memory(arena, engine->limits, args); });
      kernels.divergence(args, stream);
    });
  });
}

void CudaDependencyTrees::cross_entropy(CudaDependencyTrees& q, double* out, void* stream) {
  impl_->compare(*q.impl_, detail::Divergence::kCrossEntropy, "CudaDependencyTrees::cross_entropy",
                 out, stream);
}

void CudaDependencyTrees::kl_divergence(CudaDependencyTrees& q, double* out, void* stream) {
  impl_->compare(*q.impl_, detail::Divergence::kRelativeEntropy,
                 "CudaDependencyTrees::kl_divergence", out, stream);
}

}  // namespace taproot
