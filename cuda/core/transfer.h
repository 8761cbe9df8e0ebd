// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "cuda/core/memory.h"

namespace taproot::cuda {

/// Pinned host memory that several threads share, one at a time.
struct Staging {
  std::mutex mutex;
  PinnedArray memory;
};

/// Where the elements of each sentence begin in an array, and where the last ones end.
using Bounds = std::vector<std::int64_t>;

/// Of sentences that have `each` elements.
inline Bounds regular_bounds(std::size_t size, std::size_t each) {
  Bounds bounds(size + 1);
  for (std::size_t b = 0; b <= size; ++b) bounds[b] = static_cast<std::int64_t>(b * each);
  return bounds;
}

/// Moves arrays between host and device, by way of pinned memory, a run of sentences at a time.
class Transfer {
 public:
  Transfer(Staging& staging, cudaStream_t stream) : staging_(staging), stream_(stream) {}

  /// Fills device memory: fill(b, to) writes the elements of sentence b.
  template <typename T, typename Fill>
  void send(T* to, std::span<const std::int64_t> bounds, Fill&& fill) const {
    in_runs<T>(bounds, [&](std::size_t begin, std::size_t end, std::size_t bytes, T* slab) {
      for (std::size_t b = begin; b < end; ++b) fill(b, slab + (bounds[b] - bounds[begin]));
      TAPROOT_CUDA(
          cudaMemcpyAsync(to + bounds[begin], slab, bytes, cudaMemcpyHostToDevice, stream_));
      TAPROOT_CUDA(cudaStreamSynchronize(stream_));
    });
  }

  /// Waits for what was launched on the stream; take(b, from) is given the elements of sentence b.
  template <typename T, typename Take>
  void fetch(const T* from, std::span<const std::int64_t> bounds, Take&& take) const {
    in_runs<T>(bounds, [&](std::size_t begin, std::size_t end, std::size_t bytes, T* slab) {
      TAPROOT_CUDA(
          cudaMemcpyAsync(slab, from + bounds[begin], bytes, cudaMemcpyDeviceToHost, stream_));
      TAPROOT_CUDA(cudaStreamSynchronize(stream_));
      for (std::size_t b = begin; b < end; ++b) take(b, slab + (bounds[b] - bounds[begin]));
    });
  }

  /// One element per sentence.
  template <typename T>
  void send(T* to, const std::vector<T>& from) const {
    send(to, regular_bounds(from.size(), 1), [&](std::size_t b, T* value) { *value = from[b]; });
  }
  template <typename T>
  std::vector<T> fetch(const T* from, std::size_t size) const {
    std::vector<T> to(size);
    fetch(from, regular_bounds(size, 1), [&](std::size_t b, const T* value) { to[b] = *value; });
    return to;
  }

 private:
  /// Unless one sentence needs more.
  static constexpr std::size_t kSlabBytes = std::size_t{16} << 20;

  template <typename T, typename Visit>
  void in_runs(std::span<const std::int64_t> bounds, Visit&& visit) const {
    const std::lock_guard lock(staging_.mutex);
    const auto bytes = [&](std::size_t begin, std::size_t end) {
      return static_cast<std::size_t>(bounds[end] - bounds[begin]) * sizeof(T);
    };
    const std::size_t size = bounds.size() - 1;
    for (std::size_t begin = 0; begin < size;) {
      std::size_t end = begin + 1;
      while (end < size && bytes(begin, end + 1) <= kSlabBytes) ++end;
      if (bytes(begin, end) > 0) {
        visit(begin, end, bytes(begin, end),
              static_cast<T*>(staging_.memory.resize(bytes(begin, end))));
      }
      begin = end;
    }
  }

  Staging& staging_;
  cudaStream_t stream_;
};

}  // namespace taproot::cuda
