// SPDX-License-Identifier: Apache-2.0
#include "cuda/eliminate/limits.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/core/cuda_check.h"

namespace taproot::cuda {
namespace {

Limits find_limits(int device) {
  const auto attribute = [=](cudaDeviceAttr name) {
    int value = 0;
    TAPROOT_CUDA(cudaDeviceGetAttribute(&value, name, device));
    return value;
  };
  Limits limits;
  // Some shared memory is static.
  limits.most_shared =
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) - 2048;
  limits.has_dependent_launch = attribute(cudaDevAttrClusterLaunch) != 0;
  limits.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  return limits;
}

}  // namespace

Limits Limits::of_current_device() {
  static std::mutex mutex;
  static std::map<int, Limits> known;
  int device = 0;
  TAPROOT_CUDA(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  auto found = known.find(device);
  if (found == known.end()) found = known.emplace(device, find_limits(device)).first;
  return found->second;
}

Shape Limits::shape(int max_n, std::size_t scalar) const {
  const int chunk = max_n < 32 ? 1 : max_n < 64 ? 2 : max_n < 128 ? 4 : 8;
  const int threads = std::min(512, 128 * chunk);
  const bool shared = Layout(max_n, threads, chunk, scalar, true).bytes <= most_shared;
  return {chunk, threads, shared};
}

Shape Limits::inference_shape(int max_n, std::size_t scalar) const {
  const Shape words = shape(max_n, scalar);
  const auto bytes = [=](int threads, bool shared) {
    return Layout(max_n, threads, kInGroups, scalar, shared).bytes;
  };
  // Short sentences need many blocks at once, for which groups in double have too many registers.
  if (max_n < 32) return scalar == sizeof(double) ? words : Shape{kInGroups, 128, true};
  // More threads per block pay where a multiprocessor has room for one block alone.
  if (bytes(256, true) <= most_shared / 2) return {kInGroups, 256, true};
  if (bytes(512, true) <= most_shared) return {kInGroups, 512, true};
  // With the matrix in global memory, it counts how many numbers a thread waits for at once.
  const int threads = scalar == sizeof(double) ? 256 : 512;
  if (bytes(threads, false) <= most_shared) return {kInGroups, threads, false};
  return words;
}

bool Limits::fits(int max_n) const {
  const Shape s = shape(max_n, sizeof(double));
  return Layout(max_n, s.threads, s.chunk, sizeof(double), s.shared).bytes <= most_shared;
}

}  // namespace taproot::cuda
