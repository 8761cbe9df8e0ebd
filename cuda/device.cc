// SPDX-License-Identifier: Apache-2.0
//
// The device: what there is, and what it has done.
#include <stdexcept>
#include <string>
#include <utility>

#include "cuda/core/counter.h"
#include "cuda/engine.h"
#include "taproot/cuda.h"

namespace taproot {

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
  impl_ = std::make_shared<Impl>(precision);
}
Cuda::Cuda(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cuda::~Cuda() = default;
Cuda::Cuda(Cuda&&) noexcept = default;
Cuda& Cuda::operator=(Cuda&&) noexcept = default;

CudaStatistics Cuda::statistics() const {
  const CurrentDevice current(impl_->device);
  std::uint64_t counters[2] = {};
  TAPROOT_CUDA(cudaDeviceSynchronize());
  TAPROOT_CUDA(
      cudaMemcpy(counters, impl_->counters.get(), sizeof counters, cudaMemcpyDeviceToHost));
  return {.launches = cuda::launch_counter().load() - impl_->launched_before,
          .eliminations = impl_->eliminations.load(),
          .on_cpu = impl_->on_cpu.load(),
          .fallbacks = counters[0],
          .exact = counters[1]};
}

void Cuda::release() {
  const CurrentDevice current(impl_->device);
  TAPROOT_CUDA(cudaDeviceSynchronize());
  impl_->pool.trim();
  const std::lock_guard lock(impl_->staging.mutex);
  impl_->staging.memory.clear();
}

}  // namespace taproot
