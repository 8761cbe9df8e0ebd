// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cuda/core/counter.h"
#include "cuda/core/cuda_check.h"

namespace taproot::cuda {

/// Launches a kernel with so much dynamic shared memory, and checks that.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 threads, std::size_t shared_bytes,
            void* stream, Arguments&&... arguments) {
  constexpr std::size_t kDefaultShared = 48 << 10;
  if (shared_bytes > kDefaultShared) {
    TAPROOT_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(shared_bytes)));
  }
  kernel<<<grid, threads, shared_bytes, static_cast<cudaStream_t>(stream)>>>(arguments...);
  TAPROOT_CUDA(cudaGetLastError());
  launch_counter().fetch_add(1, std::memory_order_relaxed);
}

}  // namespace taproot::cuda
