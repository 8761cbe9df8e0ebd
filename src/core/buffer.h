// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace taproot::detail {

inline constexpr std::size_t kAlignment = 64;

/// Larger blocks of memory are asked for in pages of 2 MB, where the system has such: there are
/// fewer of them to fault in and to look up.
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

inline void* take_memory(std::size_t bytes) {
  if (bytes < kHugePage) return ::operator new (bytes, std::align_val_t{kAlignment});
  void* memory = ::operator new (bytes, std::align_val_t{kHugePage});
#if defined(__linux__)
  madvise(memory, bytes, MADV_HUGEPAGE);  // Advice: whether it was taken does not matter.
#endif
  return memory;
}

inline void give_memory(void* memory, std::size_t bytes) {
  ::operator delete (memory, std::align_val_t{bytes < kHugePage ? kAlignment : kHugePage});
}

/// Memory on cache-line boundaries that only ever grows, so that a batch allocates while it meets
/// longer and longer sentences and then no more. Contents are uninitialized and do not survive
/// growth.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  T* resize(std::size_t size) {
    if (size > capacity_) {
      data_.reset();  // First give back, then take: the peak is what a limit on memory sees.
      capacity_ = 0;
      data_ = {static_cast<T*>(take_memory(size * sizeof(T))), Free{size * sizeof(T)}};
      capacity_ = size;
    }
    return data_.get();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    std::size_t bytes = 0;
    void operator()(T* p) const { give_memory(p, bytes); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t capacity_ = 0;
};

/// The library's matrices have rows of this many doubles: whole cache lines, and never a multiple
/// of a page's 4096 bytes, at which a walk down a column would keep hitting one cache set.
inline std::size_t leading_dimension(int n) {
  const std::size_t ld = (static_cast<std::size_t>(n) + 8) / 8 * 8;
  return ld % 64 == 0 ? ld + 8 : ld;
}

}  // namespace taproot::detail
