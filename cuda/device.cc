// SPDX-License-Identifier: Apache-2.0
//
// The public class: checks, and the caller's memory as kernels take it.
#include "taproot/cuda.h"

#include "core/check.h"
#include "cuda/core/counter.h"
#include "cuda/engine.h"

namespace taproot {
namespace {

static_assert(sizeof(CudaOutcome) == sizeof(cuda::DeviceOutcome));
static_assert(kCudaOutOfRange == cuda::kOutOfRange);
static_assert(static_cast<int>(Status::kOk) == cuda::kOk &&
              static_cast<int>(Status::kNoTree) == cuda::kNoTree &&
              static_cast<int>(Status::kBadScore) == cuda::kBadScore &&
              static_cast<int>(Status::kEmpty) == cuda::kEmpty);

cuda::DeviceOutcome* inside(CudaOutcome* outcomes) {
  return reinterpret_cast<cuda::DeviceOutcome*>(outcomes);
}

void check(const CudaScores& scores, const void* outcomes, const char* function) {
  detail::require(scores.size == 0 || (scores.data != nullptr && outcomes != nullptr), function,
                  "scores or outcomes are null");
  detail::require(scores.max_n >= 0 && scores.size <= std::size_t{1} << 30, function,
                  "the batch has a negative length, or too many sentences");
}

int tree_count(std::size_t k, const char* function) {
  detail::require(k <= std::size_t{1} << 30, function, "at most 2^30 trees a sentence");
  return static_cast<int>(k);
}

}  // namespace

bool cuda_available() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

std::string cuda_description() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return std::string("there is no device: ") + cudaGetErrorString(error);
  if (count == 0) return "there is no device";
  int device = 0;
  cudaDeviceProp properties{};
  TAPROOT_CUDA(cudaGetDevice(&device));
  TAPROOT_CUDA(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

Cuda::Cuda(Precision precision) {
  if (!cuda_available()) throw std::runtime_error("[cuda] " + cuda_description());
  impl_ = std::make_unique<Impl>(precision);
}
Cuda::~Cuda() = default;
Cuda::Cuda(Cuda&&) noexcept = default;
Cuda& Cuda::operator=(Cuda&&) noexcept = default;

Precision Cuda::precision() const { return impl_->precision; }

CudaStatistics Cuda::statistics() const {
  const CurrentDevice current(impl_->device);
  CudaStatistics statistics = impl_->statistics;
  std::uint64_t counters[2] = {};
  TAPROOT_CUDA(cudaDeviceSynchronize());
  TAPROOT_CUDA(
      cudaMemcpy(counters, impl_->counters.data(), sizeof counters, cudaMemcpyDeviceToHost));
  statistics.fallbacks = counters[0];
  statistics.exact = counters[1];
  statistics.launches = cuda::launch_counter().load() - impl_->launched_before;
  return statistics;
}

void Cuda::log_partition(const CudaScores& scores, CudaOutcome* outcomes, double* out,
                         void* stream) {
  check(scores, outcomes, "Cuda::log_partition");
  detail::require(out != nullptr || scores.size == 0, "Cuda::log_partition", "out is null");
  const CurrentDevice current(impl_->device);
  impl_->log_partition(cuda::batch_of(scores), inside(outcomes), out, stream);
}

void Cuda::marginals(const CudaScores& scores, CudaOutcome* outcomes, const CudaEdges& out,
                     double* log_z, void* stream) {
  check(scores, outcomes, "Cuda::marginals");
  detail::require(out.data != nullptr || scores.size == 0, "Cuda::marginals", "out is null");
  const CurrentDevice current(impl_->device);
  impl_->marginals(cuda::batch_of(scores), inside(outcomes), out, nullptr, log_z, stream);
}

void Cuda::hessian_product(const CudaScores& scores, const CudaEdges& direction,
                           CudaOutcome* outcomes, const CudaEdges& out, void* stream) {
  check(scores, outcomes, "Cuda::hessian_product");
  detail::require((direction.data != nullptr && out.data != nullptr) || scores.size == 0,
                  "Cuda::hessian_product", "direction or out is null");
  const CurrentDevice current(impl_->device);
  impl_->hessian_product(cuda::batch_of(scores), direction, inside(outcomes), out, stream);
}

void Cuda::sample(const CudaScores& scores, std::size_t k, std::uint64_t seed,
                  CudaOutcome* outcomes, const CudaTrees& out, void* stream,
                  std::uint32_t first_sentence) {
  check(scores, outcomes, "Cuda::sample");
  const CurrentDevice current(impl_->device);
  impl_->sample(cuda::batch_of(scores), tree_count(k, "Cuda::sample"), seed, first_sentence,
                inside(outcomes), out, scores.max_n, stream);
}

void Cuda::sample_without_replacement(const CudaScores& scores, std::size_t k, std::uint64_t seed,
                                      CudaOutcome* outcomes, const CudaWithoutReplacement& out,
                                      void* stream, std::uint32_t first_sentence) {
  constexpr const char* kName = "Cuda::sample_without_replacement";
  check(scores, outcomes, kName);
  const CurrentDevice current(impl_->device);
  impl_->beam(cuda::batch_of(scores), tree_count(k, kName), seed, first_sentence, inside(outcomes),
              out, scores.max_n, stream);
}

}  // namespace taproot
