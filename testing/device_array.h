// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <new>

namespace taproot {

/// Device memory that only ever grows. Contents do not survive growth, which waits for the device.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  ~DeviceArray() { cudaFree(data_); }  // Nothing can be done about an error here.
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* resize(std::size_t size) {
    if (size > capacity_) {
      cudaFree(data_);
      data_ = nullptr;
      capacity_ = 0;
      void* memory = nullptr;
      if (cudaMalloc(&memory, size * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
      data_ = static_cast<T*>(memory);
      capacity_ = size;
    }
    return data_;
  }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace taproot
