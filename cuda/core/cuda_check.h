// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace taproot::cuda {

/// Throws std::runtime_error, naming the call, unless it went well. Every CUDA call goes through
/// it.
inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string("[cuda] ") + call + ": " + cudaGetErrorString(error));
}

}  // namespace taproot::cuda

#define TAPROOT_CUDA(call) ::taproot::cuda::check((call), #call)
