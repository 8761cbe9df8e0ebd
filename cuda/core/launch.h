// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cuda/core/counter.h"
#include "cuda/core/cuda_check.h"

namespace taproot::cuda {

inline void allow_shared(const void* kernel, std::size_t bytes) {
  constexpr std::size_t kDefaultShared = 48 << 10;
  if (bytes <= kDefaultShared) return;
  TAPROOT_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
}

/// Launches a kernel with `shared_bytes` of dynamic shared memory; throws if the launch fails.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 threads, std::size_t shared_bytes,
            void* stream, Arguments&&... arguments) {
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  kernel<<<grid, threads, shared_bytes, static_cast<cudaStream_t>(stream)>>>(arguments...);
  TAPROOT_CUDA(cudaGetLastError());
  launch_counter().fetch_add(1, std::memory_order_relaxed);
}

/// The same for a kernel that begins with wait_for_previous() (dependent.cuh). With `early`, the
/// device may start it before the previous kernel is done.
template <typename... Parameters, typename... Arguments>
void launch_dependent(bool early, void (*kernel)(Parameters...), dim3 grid, dim3 threads,
                      std::size_t shared_bytes, void* stream, Arguments&&... arguments) {
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  TAPROOT_CUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
  launch_counter().fetch_add(1, std::memory_order_relaxed);
}

}  // namespace taproot::cuda
