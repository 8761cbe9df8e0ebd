// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "core/matrix_view.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace taproot::detail {

inline constexpr std::size_t kAlignment = 64;

/// Blocks of at least this size are requested in pages of 2 MB where the system has them, because
/// fewer pages mean fewer page faults and fewer misses in the address translation.
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

inline void* take_memory(std::size_t bytes) {
  if (bytes < kHugePage) return ::operator new (bytes, std::align_val_t{kAlignment});
  void* memory = ::operator new (bytes, std::align_val_t{kHugePage});
#if defined(__linux__)
  madvise(memory, bytes, MADV_HUGEPAGE);  // Only a hint, so its result is ignored.
#endif
  return memory;
}

inline void give_memory(void* memory, std::size_t bytes) {
  ::operator delete (memory, std::align_val_t{bytes < kHugePage ? kAlignment : kHugePage});
}

/// Memory on cache-line boundaries that only ever grows, so that a batch stops allocating once it
/// has met its longest sentence. Contents are uninitialized, and growing loses them. Indices may be
/// of any integral type.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  T* resize(std::size_t size) {
    if (size > capacity_) {
      data_.reset();  // Free the old block first, so that the two never exist at once.
      capacity_ = 0;
      data_ = {static_cast<T*>(take_memory(size * sizeof(T))), Free{size * sizeof(T)}};
      capacity_ = size;
    }
    return data_.get();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](std::integral auto i) { return data_.get()[i]; }
  const T& operator[](std::integral auto i) const { return data_.get()[i]; }

 private:
  struct Free {
    std::size_t bytes = 0;
    void operator()(T* p) const { give_memory(p, bytes); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t capacity_ = 0;
};

}  // namespace taproot::detail
