// SPDX-License-Identifier: Apache-2.0
//
// Arrays of 32-bit words in shared or in global memory, by one interface.
#pragma once

#include <cstdint>

namespace taproot::cuda {

/// In shared memory, by an address of its own: from a pointer the compiler would find that address
/// anew at every access.
class SharedWords {
 public:
  explicit __device__ SharedWords(const void* base)
      : address_(static_cast<std::uint32_t>(__cvta_generic_to_shared(base))) {
    asm volatile("" : "+r"(address_));
  }
  __device__ SharedWords operator+(int offset) const {
    SharedWords other = *this;
    other.address_ += 4 * static_cast<std::uint32_t>(offset);
    return other;
  }
  __device__ std::uint32_t operator[](std::uint32_t i) const {
    std::uint32_t word = 0;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at(i)) : "memory");
    return word;
  }
  __device__ void store(std::uint32_t i, std::uint32_t word) const {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at(i)), "r"(word) : "memory");
  }
  /// Words i, ..., i + 3, where i is a multiple of 4.
  __device__ uint4 load_four(std::uint32_t i) const {
    uint4 four;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                 : "r"(at(i))
                 : "memory");
    return four;
  }
  __device__ void store(std::uint32_t i, const std::uint32_t (&words)[4]) const {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at(i)), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  }

 private:
  __device__ std::uint32_t at(std::uint32_t i) const { return address_ + 4 * i; }

  std::uint32_t address_;
};

class GlobalWords {
 public:
  explicit __device__ GlobalWords(std::uint32_t* base) : base_(base) {}
  __device__ GlobalWords operator+(int offset) const { return GlobalWords(base_ + offset); }
  __device__ std::uint32_t operator[](std::uint32_t i) const { return base_[i]; }
  __device__ void store(std::uint32_t i, std::uint32_t word) const { base_[i] = word; }
  __device__ void store(std::uint32_t i, const std::uint32_t (&words)[4]) const {
    *reinterpret_cast<uint4*>(base_ + i) = {words[0], words[1], words[2], words[3]};
  }

 private:
  std::uint32_t* base_;
};

}  // namespace taproot::cuda
