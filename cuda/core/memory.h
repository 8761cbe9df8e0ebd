// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <utility>

#include "cuda/core/arena.h"
#include "cuda/core/cuda_check.h"

namespace taproot::cuda {

/// Device memory in the order of streams: a block can be taken and given back between launches
/// without waiting for the device. What is given back stays here for the next calls.
class DevicePool {
 public:
  explicit DevicePool(int device) {
    int supported = 0;
    TAPROOT_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
    if (supported == 0) return;  // take() and give() then wait for the device.
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    TAPROOT_CUDA(cudaMemPoolCreate(&pool_, &properties));
    std::size_t keep = ~std::size_t{0};
    TAPROOT_CUDA(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  ~DevicePool() {
    if (pool_ != nullptr) cudaMemPoolDestroy(pool_);  // Nothing can be done about an error here.
  }
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  /// Null if no bytes are asked for.
  void* take(std::size_t bytes, cudaStream_t stream) {
    void* memory = nullptr;
    if (bytes == 0) return memory;
    if (pool_ != nullptr) {
      TAPROOT_CUDA(cudaMallocFromPoolAsync(&memory, bytes, pool_, stream));
    } else {
      TAPROOT_CUDA(cudaMalloc(&memory, bytes));
    }
    return memory;
  }
  void give(void* memory, cudaStream_t stream) noexcept {
    if (memory == nullptr) return;
    if (pool_ != nullptr) {
      cudaFreeAsync(memory, stream);
    } else {
      cudaFree(memory);
    }
  }

  /// Gives what nobody uses back to the device.
  void trim() {
    if (pool_ != nullptr) TAPROOT_CUDA(cudaMemPoolTrimTo(pool_, 0));
  }

 private:
  cudaMemPool_t pool_ = nullptr;  // Null where the device has no memory pools.
};

/// One block of a pool, given back when it goes out of scope, after what was launched on its
/// stream until then.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(DevicePool& pool, std::size_t bytes, cudaStream_t stream)
      : pool_(&pool), memory_(pool.take(bytes, stream)), stream_(stream) {}
  ~DeviceBlock() {
    if (pool_ != nullptr) pool_->give(memory_, stream_);
  }
  DeviceBlock(DeviceBlock&& other) noexcept { *this = std::move(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(memory_, other.memory_);
    std::swap(stream_, other.stream_);
    return *this;
  }

  void* data() const { return memory_; }
  /// From now on it is used, and in the end given back, on this stream.
  void move_to(cudaStream_t stream) { stream_ = stream; }

 private:
  DevicePool* pool_ = nullptr;
  void* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// A block with the parts that lay_out(arena) takes from it, which is called twice: for the size,
/// and then with the memory.
template <typename LayOut>
DeviceBlock take_block(DevicePool& pool, cudaStream_t stream, LayOut&& lay_out) {
  Arena size;
  lay_out(size);
  DeviceBlock block(pool, size.used(), stream);
  Arena arena(block.data());
  lay_out(arena);
  return block;
}

/// For a few bytes that live as long as their owner.
struct CudaFree {
  void operator()(void* memory) const { cudaFree(memory); }
};

/// Host memory that the device reads and writes directly, which is several times as fast as by way
/// of ordinary memory. It only ever grows.
class PinnedArray {
 public:
  PinnedArray() = default;
  ~PinnedArray() { clear(); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;

  void* resize(std::size_t bytes) {
    if (bytes > capacity_) {
      const std::size_t size = std::bit_ceil(bytes);  // Growing is slow.
      clear();
      TAPROOT_CUDA(cudaMallocHost(&data_, size));
      capacity_ = size;
    }
    return data_;
  }
  void clear() noexcept {
    cudaFreeHost(data_);  // Nothing can be done about an error here.
    data_ = nullptr;
    capacity_ = 0;
  }

 private:
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace taproot::cuda
