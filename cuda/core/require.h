// SPDX-License-Identifier: Apache-2.0
//
// What every caller with memory on a device is held to.
#pragma once

#include <cstdint>
#include <string>

#include "core/check.h"
#include "taproot/cuda.h"

namespace taproot::cuda {

/// Numbers of sentences and of trees are counted in 32 bits.
inline constexpr std::size_t kLargestCount = std::size_t{1} << 30;

inline void require_scores(const CudaScores& scores, const char* function) {
  const auto require = [=](bool condition, const char* what) {
    detail::require(condition, function, what);
  };
  require(scores.size == 0 || scores.data != nullptr, "the scores are null");
  require(scores.max_n >= 0, "max_n is negative");
  require(scores.size <= kLargestCount, "there are more than 2^30 sentences");
  require(scores.offsets == nullptr || scores.cells > 0 || scores.size == 0,
          "with offsets the number of cells must be given");
}

/// The number of trees that a sentence is asked for, as kernels take it.
inline int tree_count(std::size_t k, const char* function) {
  if (k > kLargestCount) {
    detail::misuse(function, "k is " + std::to_string(k) + ", and must be at most 2^30");
  }
  return static_cast<int>(k);
}

/// Throws unless the heads of sentences of up to max_n words fit the caller's memory.
inline void require_head_size(const CudaHeadBuffer& out, int max_n, const char* function) {
  const int bytes = out.head_bytes;
  detail::require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8, function,
                  "heads must have 1, 2, 4 or 8 bytes");
  detail::require(bytes >= 4 || max_n <= (bytes == 1 ? INT8_MAX : INT16_MAX), function,
                  "heads of 1 byte are for sentences of up to 127 words, of 2 bytes up to 32767");
}

}  // namespace taproot::cuda
