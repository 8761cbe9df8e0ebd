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
  limits.has_clusters = attribute(cudaDevAttrClusterLaunch) != 0;
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
  return {chunk, threads, shared, 1};
}

Shape Limits::cluster_shape(int max_n, std::size_t scalar) const {
  const Shape alone = shape(max_n, scalar);
  const int chunk = max_n < 256 ? 8 : 16;
  if (alone.shared || !has_clusters || max_n >= 512) return alone;
  for (const int size : {2, 4, 8}) {
    const Layout layout(max_n, alone.threads, chunk, scalar, true, size);
    if (layout.bytes <= most_shared) return {chunk, alone.threads, true, size};
  }
  return alone;
}

bool Limits::fits(int max_n) const {
  const Shape s = shape(max_n, sizeof(double));
  return Layout(max_n, s.threads, s.chunk, sizeof(double), s.shared).bytes <= most_shared;
}

}  // namespace taproot::cuda
