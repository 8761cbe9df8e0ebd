// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "arrays.h"

namespace taproot::python {

/// The values of a column, which grows at its end. New values are not set to anything, because the
/// library writes them, and writing a large column twice would take as long as some questions.
template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const { return size_; }
  T* data() { return data_.get(); }
  T* end() { return data_.get() + size_; }

  void reserve(std::size_t size) {
    if (size <= capacity_) return;
    void* const moved = std::realloc(data_.get(), size * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(moved));
    capacity_ = size;
  }

  /// Where the new values go.
  T* grow(std::size_t by) {
    if (size_ + by > capacity_) reserve(size_ + by + capacity_ / 2);
    size_ += by;
    return end() - by;
  }
  void append(const T* values, std::size_t count) {
    if (count > 0) std::copy_n(values, count, grow(count));
  }
  void cut(std::size_t size) { size_ = size; }

  /// As a NumPy array, without a copy. The GIL must be held.
  NumpyArray<T> take() {
    reserve(1);  // NumPy takes no null.
    T* const values = data_.release();
    const nanobind::capsule owner(values, [](void* p) noexcept { std::free(p); });
    return NumpyArray<T>(values, {size_}, owner);
  }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// The offsets of lists, one more than there are lists. Arrow's are of 32 bits.
class ListOffsets {
 public:
  ListOffsets() { *offsets_.grow(1) = 0; }

  void reserve(std::size_t lists) { offsets_.reserve(lists + 1); }
  void add(std::size_t size) {
    last_ += size;
    if (last_ > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      throw std::invalid_argument(
          "the answers of this batch are more than 2^31 - 1 numbers, which a list column cannot "
          "hold: use smaller batches");
    }
    *offsets_.grow(1) = static_cast<std::int32_t>(last_);
  }
  /// A list for a row; those between it and the last one are empty.
  void add_at(std::size_t row, std::size_t size) {
    fill(row);
    add(size);
  }
  std::size_t lists() const { return offsets_.size() - 1; }
  /// Empty lists until there are `lists`.
  void fill(std::size_t count) {
    while (lists() < count) add(0);
  }
  NumpyArray<std::int32_t> take() { return offsets_.take(); }

 private:
  Column<std::int32_t> offsets_;
  std::size_t last_ = 0;
};

}  // namespace taproot::python
