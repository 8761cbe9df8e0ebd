// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "taproot/cuda.h"

namespace taproot::cuda {

/// The heads of one tree in the caller's memory, of the size that the caller wants.
class TreeHeads {
 public:
  __device__ TreeHeads(const CudaHeadBuffer& out, std::int64_t b, std::int64_t s)
      : heads_(out.heads),
        first_(b * out.sentence_stride + s * out.tree_stride),
        bytes_(out.head_bytes) {}

  /// The head of word i + 1; -1 beyond the sentence.
  __device__ void set(int i, int head) const {
    if (bytes_ == 4) {
      static_cast<std::int32_t*>(heads_)[first_ + i] = head;
    } else if (bytes_ == 8) {
      static_cast<std::int64_t*>(heads_)[first_ + i] = head;
    } else if (bytes_ == 2) {
      static_cast<std::int16_t*>(heads_)[first_ + i] = static_cast<std::int16_t>(head);
    } else {
      static_cast<std::int8_t*>(heads_)[first_ + i] = static_cast<std::int8_t>(head);
    }
  }
  __device__ int get(int i) const {
    if (bytes_ == 4) return static_cast<const std::int32_t*>(heads_)[first_ + i];
    if (bytes_ == 8) return static_cast<int>(static_cast<const std::int64_t*>(heads_)[first_ + i]);
    if (bytes_ == 2) return static_cast<const std::int16_t*>(heads_)[first_ + i];
    return static_cast<const std::int8_t*>(heads_)[first_ + i];
  }

 private:
  void* heads_;
  std::int64_t first_;
  int bytes_;
};

}  // namespace taproot::cuda
