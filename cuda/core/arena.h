// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace taproot::cuda {

/// Hands out parts of one block of memory. A layout runs twice: first on null, to find the size,
/// and then on memory of that size.
class Arena {
 public:
  explicit Arena(void* base = nullptr) : base_(static_cast<unsigned char*>(base)) {}

  template <typename T>
  T* take(std::size_t count) {
    constexpr std::size_t kAlignment = 256;
    unsigned char* here = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(here);
  }
  std::size_t used() const { return used_; }

 private:
  unsigned char* base_;
  std::size_t used_ = 0;
};

}  // namespace taproot::cuda
