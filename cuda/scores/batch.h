// SPDX-License-Identifier: Apache-2.0
//
// The sentences of one launch, as kernels see them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "taproot/cuda.h"
#include "taproot/types.h"

namespace taproot::cuda {

inline constexpr std::int32_t kOk = static_cast<std::int32_t>(Status::kOk);
inline constexpr std::int32_t kNoTree = static_cast<std::int32_t>(Status::kNoTree);
inline constexpr std::int32_t kBadScore = static_cast<std::int32_t>(Status::kBadScore);
inline constexpr std::int32_t kEmpty = static_cast<std::int32_t>(Status::kEmpty);

/// The caller's scores, or a piece of them.
struct Batch : CudaScores {
  std::size_t first = 0;  ///< The position of sentence 0 of the piece in the whole batch.

  TAPROOT_HOST_DEVICE int n(int b) const { return lengths == nullptr ? max_n : lengths[b]; }
  TAPROOT_HOST_DEVICE std::uint64_t id(int b) const {
    return ids == nullptr ? first + static_cast<std::size_t>(b) : ids[b];
  }
  TAPROOT_HOST_DEVICE bool single() const { return root == RootRule::kSingle; }
  TAPROOT_HOST_DEVICE std::int64_t nodes() const { return max_n + 1; }
};

/// Element `at` of float32 or float64 data; likewise for writing.
TAPROOT_HOST_DEVICE inline const void* element(const void* data, bool is_double, std::int64_t at) {
  return is_double ? static_cast<const void*>(static_cast<const double*>(data) + at)
                   : static_cast<const void*>(static_cast<const float*>(data) + at);
}
TAPROOT_HOST_DEVICE inline void* element(void* data, bool is_double, std::int64_t at) {
  return is_double ? static_cast<void*>(static_cast<double*>(data) + at)
                   : static_cast<void*>(static_cast<float*>(data) + at);
}

/// One sentence's part of a CudaScores, a CudaEdges or a ConstCudaEdges, to be read.
struct EdgeReader {
  const void* data;
  bool is_double;
  std::int64_t head_stride;
  std::int64_t modifier_stride;

  template <typename Edges>
  TAPROOT_HOST_DEVICE EdgeReader(const Edges& edges, int b, int n)
      : data(element(static_cast<const void*>(edges.data), edges.is_double,
                     edges.offsets == nullptr ? b * edges.sentence_stride : edges.offsets[b])),
        is_double(edges.is_double),
        head_stride(edges.head_stride == 0 ? n + 1 : edges.head_stride),
        modifier_stride(edges.modifier_stride) {}
  TAPROOT_HOST_DEVICE double operator()(int head, int modifier) const {
    const std::int64_t at = head * head_stride + modifier * modifier_stride;
    return is_double ? static_cast<const double*>(data)[at]
                     : static_cast<double>(static_cast<const float*>(data)[at]);
  }

  /// The values of the heads first, first + step, ... up to `last`, and that of `last` beyond it.
  /// There is no branch, so that all of them are on their way from memory at the same time.
  template <int kCount>
  TAPROOT_HOST_DEVICE void read(int first, int step, int last, int modifier, double* to) const {
    if (is_double) {
      read_as<double, kCount>(first, step, last, modifier, to);
    } else {
      read_as<float, kCount>(first, step, last, modifier, to);
    }
  }

 private:
  template <typename T, int kCount>
  TAPROOT_HOST_DEVICE void read_as(int first, int step, int last, int modifier, double* to) const {
    const T* from = static_cast<const T*>(data) + modifier * modifier_stride;
    for (int i = 0; i < kCount; ++i) {
      const int head = first + i * step < last ? first + i * step : last;
      to[i] = static_cast<double>(from[head * head_stride]);
    }
  }
};

/// One sentence's part of a CudaEdges, to be written; nothing happens if that has no data.
struct EdgeWriter {
  void* data;
  bool is_double;
  std::int64_t head_stride;
  std::int64_t modifier_stride;

  TAPROOT_HOST_DEVICE EdgeWriter(const CudaEdges& edges, int b, int n)
      : data(nullptr),
        is_double(edges.is_double),
        head_stride(edges.head_stride == 0 ? n + 1 : edges.head_stride),
        modifier_stride(edges.modifier_stride) {
    if (edges.data == nullptr) return;
    data = element(edges.data, is_double,
                   edges.offsets == nullptr ? b * edges.sentence_stride : edges.offsets[b]);
  }
  TAPROOT_HOST_DEVICE void write(int head, int modifier, double x) const {
    if (data == nullptr) return;
    const std::int64_t at = head * head_stride + modifier * modifier_stride;
    if (is_double) {
      static_cast<double*>(data)[at] = x;
    } else {
      static_cast<float*>(data)[at] = static_cast<float>(x);
    }
  }
};

/// Writes x as the answer of sentence b, or nothing if numbers.data is null (it was not asked for).
TAPROOT_HOST_DEVICE inline void write_number(const CudaNumbers& numbers, int b, double x) {
  if (numbers.data == nullptr) return;
  const std::int64_t at = b * numbers.stride;
  if (numbers.is_double) {
    static_cast<double*>(numbers.data)[at] = x;
  } else {
    static_cast<float*>(numbers.data)[at] = static_cast<float>(x);
  }
}
TAPROOT_HOST_DEVICE inline double read_number(const ConstCudaNumbers& numbers, int b) {
  const std::int64_t at = b * numbers.stride;
  return numbers.is_double ? static_cast<const double*>(numbers.data)[at]
                           : static_cast<double>(static_cast<const float*>(numbers.data)[at]);
}

/// Numbers of the sentences from `begin` on.
template <typename Numbers>
Numbers slice_numbers(const Numbers& numbers, std::size_t begin) {
  Numbers piece = numbers;
  if (numbers.data == nullptr) return piece;
  piece.data =
      element(numbers.data, numbers.is_double, static_cast<std::int64_t>(begin) * numbers.stride);
  return piece;
}

/// Sentences [begin, begin + count) of a batch.
inline Batch slice(const Batch& batch, std::size_t begin, std::size_t count) {
  Batch piece = batch;
  piece.first += begin;
  piece.size = count;
  if (batch.lengths != nullptr) piece.lengths += begin;
  if (batch.ids != nullptr) piece.ids += begin;
  if (batch.offsets != nullptr) {
    piece.offsets += begin;
  } else {
    piece.data = element(batch.data, batch.is_double,
                         static_cast<std::int64_t>(begin) * batch.sentence_stride);
  }
  return piece;
}

/// Edges of the sentences from `begin` on.
template <typename Edges>
Edges slice(const Edges& edges, std::size_t begin) {
  Edges piece = edges;
  if (edges.data == nullptr) return piece;
  if (edges.offsets != nullptr) {
    piece.offsets += begin;
  } else {
    piece.data = element(edges.data, edges.is_double,
                         static_cast<std::int64_t>(begin) * edges.sentence_stride);
  }
  return piece;
}

}  // namespace taproot::cuda
