// SPDX-License-Identifier: Apache-2.0
//
// Builds without CUDA: asking for it is an error, never a silent run on the CPU.
#include <stdexcept>
#include <utility>

#include "batch/device_batch.h"
#include "taproot/cuda.h"

namespace taproot {
namespace {

[[noreturn]] void none() { throw std::runtime_error("[cuda] " + cuda_description()); }

}  // namespace

bool cuda_available() { return false; }
std::string cuda_description() { return "this build of taproot has no CUDA"; }

struct Cuda::Impl {};

Cuda::Cuda(Precision) { none(); }
Cuda::Cuda(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cuda::~Cuda() = default;
Cuda::Cuda(Cuda&&) noexcept = default;
Cuda& Cuda::operator=(Cuda&&) noexcept = default;
CudaStatistics Cuda::statistics() const { none(); }
void Cuda::release() { none(); }

struct CudaDependencyTrees::Impl {};

CudaDependencyTrees::CudaDependencyTrees(Cuda&, const CudaScores&, bool) { none(); }
CudaDependencyTrees::~CudaDependencyTrees() = default;
CudaDependencyTrees::CudaDependencyTrees(CudaDependencyTrees&&) noexcept = default;
CudaDependencyTrees& CudaDependencyTrees::operator=(CudaDependencyTrees&&) noexcept = default;
const CudaScores& CudaDependencyTrees::scores() const { none(); }
void CudaDependencyTrees::outcomes(CudaOutcome*, void*) { none(); }
void CudaDependencyTrees::log_partition(double*, void*) { none(); }
void CudaDependencyTrees::marginals(const CudaEdges&, void*) { none(); }
void CudaDependencyTrees::root_marginals(double*, void*) { none(); }
void CudaDependencyTrees::entropy(double*, void*) { none(); }
void CudaDependencyTrees::log_prob(std::size_t, const CudaTreeBuffer&, const CudaTreeValues&,
                                   void*) {
  none();
}
void CudaDependencyTrees::hessian_product(const ConstCudaEdges&, const CudaEdges&, void*) {
  none();
}
void CudaDependencyTrees::expectation(const ConstCudaEdges&, double*, void*) { none(); }
void CudaDependencyTrees::cross_entropy(CudaDependencyTrees&, double*, void*) { none(); }
void CudaDependencyTrees::kl_divergence(CudaDependencyTrees&, double*, void*) { none(); }
void CudaDependencyTrees::argmax(CudaOutcome*, const CudaTreeBuffer&, const CudaNumbers&, void*) {
  none();
}
void CudaDependencyTrees::mbr(const CudaTreeBuffer&, void*) { none(); }
void CudaDependencyTrees::sample(std::size_t, std::uint64_t, std::uint32_t, CudaOutcome*,
                                 const CudaHeadBuffer&, void*) {
  none();
}
void CudaDependencyTrees::sample_without_replacement(std::size_t, WithoutReplacementAlgorithm,
                                                     std::uint64_t, CudaOutcome*,
                                                     const CudaWithoutReplacement&, void*) {
  none();
}

std::size_t cuda_inference_bytes(const CudaInference&) { none(); }
void cuda_infer(const CudaInference&, void*, std::size_t, void*) { none(); }
std::size_t cuda_hessian_bytes(const CudaHessian&) { none(); }
void cuda_hessian_product(const CudaHessian&, void*, std::size_t, void*) { none(); }
std::size_t cuda_argmax_bytes(const CudaArgmax&) { none(); }
void cuda_argmax(const CudaArgmax&, void*, std::size_t, void*) { none(); }
void cuda_round(const double*, std::size_t, float*, void*) { none(); }

std::unique_ptr<detail::DeviceBatch> detail::make_device_batch(Cuda&, std::span<const ScoreView>,
                                                               std::span<const std::uint64_t>,
                                                               RootRule, TreeFamily) {
  none();
}

}  // namespace taproot
