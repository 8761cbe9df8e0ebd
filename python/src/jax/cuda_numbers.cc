// SPDX-License-Identifier: Apache-2.0
//
// Numbers on a CUDA device, with the same operands, results and meaning as on the CPU
// (cpu_numbers.cc). Nothing is copied to the host, and nothing waits.
#include <array>

#include "handlers.h"
#include "on_cuda.h"
#include "refusal.h"

namespace taproot::python::jax {
namespace {

using D = CudaDependencyTrees;

CudaNumbers numbers_of(const ffi::AnyBuffer& result) {
  return {result.untyped_data(), holds_doubles(result)};
}

// What the question leaves open is about the call's scores, in their precision.
void infer(const CudaCall& call, const Batch& batch, CudaInference question) {
  if (batch.size * batch.row() == 0) return call.lose();
  question.scores = scores_of(batch);
  question.precision = precision_of(batch);
  const std::size_t bytes = cuda_inference_bytes(question);
  cuda_infer(question, call.scratch(bytes), bytes, call.stream());
}

void log_partition(const CudaCall& call, const Batch& batch) {
  CudaInference question;
  question.log_partition = numbers_of(call.result(0));
  infer(call, batch, question);
}

void entropy(const CudaCall& call, const Batch& batch) {
  CudaInference question;
  question.entropy = numbers_of(call.result(0));
  infer(call, batch, question);
}

void marginals(const CudaCall& call, const Batch& batch) {
  CudaInference question;
  question.marginals = edges_of<CudaEdges>(batch, call.result(0));
  infer(call, batch, question);
}

void log_partition_and_marginals(const CudaCall& call, const Batch& batch) {
  CudaInference question;
  question.log_partition = numbers_of(call.result(0));
  question.marginals = edges_of<CudaEdges>(batch, call.result(1));
  infer(call, batch, question);
}

// The product of the Hessian with a matrix per sentence, in float64 whatever the scores are, and
// entropies where there is memory for them.
void write_product(const CudaCall& call, const Batch& batch, const ffi::AnyBuffer& vector,
                   const ffi::AnyBuffer& result, const CudaNumbers& entropy = {}) {
  CudaHessian question;
  question.entropy = entropy;
  question.scores = scores_of(batch);
  question.direction = edges_of<ConstCudaEdges>(batch, vector);
  question.out = edges_of<CudaEdges>(batch, result);
  const std::size_t bytes = cuda_hessian_bytes(question);
  cuda_hessian_product(question, call.scratch(bytes), bytes, call.stream());
}

void hessian_product(const CudaCall& call, const Batch& batch) {
  if (batch.size * batch.row() == 0) return call.lose();
  write_product(call, batch, call.operand(2), call.result(0));
}

void entropy_and_product(const CudaCall& call, const Batch& batch) {
  if (batch.size * batch.row() == 0) return call.lose();
  write_product(call, batch, call.operand(0), call.result(1), numbers_of(call.result(0)));
}

// The device writes outcomes as three integers.
CudaOutcome* outcomes_of(const ffi::AnyBuffer& result) {
  static_assert(sizeof(CudaOutcome) == 3 * sizeof(std::int32_t));
  return reinterpret_cast<CudaOutcome*>(result.typed_data<std::int32_t>());
}

void root_marginals(const CudaCall& call, const Batch& batch) {
  if (batch.size * batch.row() == 0) return call.lose();
  D trees(cuda_of(precision_of(batch)), scores_of(batch));
  const DeviceNumbers out(call, call.result(0), 0);
  trees.root_marginals(out.data(), call.stream());
  trees.outcomes(outcomes_of(call.result(1)), call.stream());
  out.finish();
}

// In float64, so that small divergences are accurate.
using PairQuestion = void (D::*)(D&, double*, void*);
template <PairQuestion kQuestion>
void compare(const CudaCall& call, const Batch& batch) {
  if (batch.size * batch.row() == 0) return call.lose();
  Cuda& cuda = cuda_of(Precision::kFloat64);
  D p(cuda, scores_of(batch));
  D q(cuda, scores_of(batch_of(call, 2, "other_projective")));
  const DeviceNumbers out(call, call.result(0), 0xff);
  (p.*kQuestion)(q, out.data(), call.stream());
  out.finish();
}

// log p of the trees, and the rest of the question, which is about the same scores.
void infer_log_prob(const CudaCall& call, const Batch& batch, CudaInference question) {
  const ffi::AnyBuffer heads = call.operand(2);
  const ffi::AnyBuffer::Dimensions shape = heads.dimensions();
  const std::int64_t k = shape[shape.size() - 2];
  const auto row = static_cast<std::ptrdiff_t>(batch.row());
  const DeviceNumbers out(call, call.result(0), 0xff);
  question.tree_count = static_cast<std::size_t>(k);
  question.trees = {heads.typed_data<std::int32_t>(), k * row, row};
  question.log_prob = {out.data(), k, 1};
  infer(call, batch, question);
  out.finish();
}

void log_prob(const CudaCall& call, const Batch& batch) {
  if (batch.size * batch.row() == 0) return call.lose();
  infer_log_prob(call, batch, {});
}

void log_prob_and_marginals(const CudaCall& call, const Batch& batch) {
  if (batch.size * batch.row() == 0) return call.lose();
  CudaInference question;
  question.marginals = edges_of<CudaEdges>(batch, call.result(1));
  infer_log_prob(call, batch, question);
}

ffi::Error no_expected_walk() { return not_on_cuda("the cost of Wilson's walk"); }
ffi::Error no_projective_mass() { return not_on_cuda("the share of projective trees"); }

constexpr std::array kHandlers{
    Handler{"taproot_log_partition", &on_cuda<&log_partition>},
    Handler{"taproot_marginals", &on_cuda<&marginals>},
    Handler{"taproot_log_partition_and_marginals", &on_cuda<&log_partition_and_marginals>},
    Handler{"taproot_entropy", &on_cuda<&entropy>},
    Handler{"taproot_entropy_and_product", &on_cuda<&entropy_and_product>},
    refused<&no_expected_walk>("taproot_expected_tries"),
    refused<&no_expected_walk>("taproot_expected_steps"),
    refused<&no_projective_mass>("taproot_projective_mass"),
    Handler{"taproot_hessian_product", &on_cuda<&hessian_product>},
    Handler{"taproot_root_marginals", &on_cuda<&root_marginals>},
    Handler{"taproot_cross_entropy", &on_cuda<&compare<&D::cross_entropy>>},
    Handler{"taproot_kl_divergence", &on_cuda<&compare<&D::kl_divergence>>},
    Handler{"taproot_log_prob", &on_cuda<&log_prob>},
    Handler{"taproot_log_prob_and_marginals", &on_cuda<&log_prob_and_marginals>},
};

}  // namespace

std::span<const Handler> cuda_numbers() { return kHandlers; }

}  // namespace taproot::python::jax
