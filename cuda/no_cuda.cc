// SPDX-License-Identifier: Apache-2.0
//
// Builds without CUDA: asking for it is an error, never a silent run on the CPU.
#include <stdexcept>

#include "batch/device_batch.h"

namespace taproot {
namespace {

[[noreturn]] void none() { throw std::runtime_error("[cuda] " + cuda_description()); }

}  // namespace

bool cuda_available() { return false; }
std::string cuda_description() { return "this build of taproot has no CUDA"; }

struct Cuda::Impl {};

Cuda::Cuda(Precision) { none(); }
Cuda::~Cuda() = default;
Cuda::Cuda(Cuda&&) noexcept = default;
Cuda& Cuda::operator=(Cuda&&) noexcept = default;
Precision Cuda::precision() const { none(); }
CudaStatistics Cuda::statistics() const { none(); }
void Cuda::log_partition(const CudaScores&, CudaOutcome*, double*, void*) { none(); }
void Cuda::marginals(const CudaScores&, CudaOutcome*, const CudaEdges&, double*, void*) { none(); }
void Cuda::hessian_product(const CudaScores&, const CudaEdges&, CudaOutcome*, const CudaEdges&,
                           void*) {
  none();
}
void Cuda::sample(const CudaScores&, std::size_t, std::uint64_t, CudaOutcome*, const CudaTrees&,
                  void*, std::uint32_t) {
  none();
}
void Cuda::sample_without_replacement(const CudaScores&, std::size_t, std::uint64_t, CudaOutcome*,
                                      const CudaWithoutReplacement&, void*, std::uint32_t) {
  none();
}

std::unique_ptr<detail::DeviceBatch> detail::make_device_batch(Cuda&, std::span<const ScoreView>,
                                                               std::span<const std::uint64_t>,
                                                               RootRule) {
  none();
}

}  // namespace taproot
