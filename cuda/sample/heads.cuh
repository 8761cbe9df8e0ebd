// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "taproot/cuda.h"

namespace taproot::cuda {

/// The heads of one sampled tree, of the size that the caller wants.
class TreeHeads {
 public:
  __device__ TreeHeads(const CudaSampleBuffer& out, std::int64_t b, std::int64_t s)
      : heads_(out.heads),
        first_(b * out.sentence_stride + s * out.tree_stride),
        bytes_(out.head_bytes) {}

  /// The head of word i + 1; -1 beyond the sentence.
  __device__ void set(int i, int head) const {
    if (bytes_ == 4) {
      static_cast<std::int32_t*>(heads_)[first_ + i] = head;
    } else if (bytes_ == 2) {
      static_cast<std::int16_t*>(heads_)[first_ + i] = static_cast<std::int16_t>(head);
    } else {
      static_cast<std::int8_t*>(heads_)[first_ + i] = static_cast<std::int8_t>(head);
    }
  }

 private:
  void* heads_;
  std::int64_t first_;
  int bytes_;
};

}  // namespace taproot::cuda
