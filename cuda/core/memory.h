// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cuda/core/cuda_check.h"

namespace taproot::cuda {

/// Memory of the device that only ever grows, as detail::Buffer does on the host. Contents do not
/// survive growth; growing waits for the device.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  ~DeviceArray() { cudaFree(data_); }  // Nothing can be done about an error here.
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* resize(std::size_t size) {
    if (size > capacity_) {
      TAPROOT_CUDA(cudaFree(data_));
      data_ = nullptr;
      capacity_ = 0;
      TAPROOT_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
      capacity_ = size;
    }
    return data_;
  }
  T* data() const { return data_; }
  std::size_t bytes() const { return capacity_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace taproot::cuda
