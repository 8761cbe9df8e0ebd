// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "cuda/core/launch.h"
#include "taproot/cuda.h"

namespace taproot {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 4096;  // Beyond that, threads take several numbers.

__global__ void round_kernel(const double* from, std::uint64_t size, float* to) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size;
       i += step) {
    to[i] = static_cast<float>(from[i]);
  }
}

}  // namespace

void cuda_round(const double* from, std::size_t size, float* to, void* stream) {
  if (size == 0) return;
  const std::size_t blocks = std::min((size + kThreads - 1) / kThreads, kMostBlocks);
  cuda::launch(&round_kernel, static_cast<unsigned>(blocks), kThreads, 0, stream, from,
               std::uint64_t{size}, to);
}

}  // namespace taproot
