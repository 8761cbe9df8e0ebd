// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"

namespace taproot::cuda {

/// What became of a sentence on the device: the codes of taproot::Status, and one more.
struct DeviceOutcome {
  std::int32_t status;
  std::int32_t head;
  std::int32_t modifier;
};
inline constexpr std::int32_t kOk = 0;
inline constexpr std::int32_t kNoTree = 1;
inline constexpr std::int32_t kBadScore = 2;
inline constexpr std::int32_t kEmpty = 3;
/// The sentence does not fit the range of the arithmetic: to be done again in a wider one.
inline constexpr std::int32_t kOutOfRange = 100;
/// Which sentences a launch is for.
inline constexpr std::int32_t kEverySentence = -1;

/// Scores in device memory, as kernels take them.
struct Batch {
  const void* data;
  bool is_double;
  bool single;
  int size;
  int max_n;
  const std::int32_t* lengths;  ///< null: all max_n
  const std::int64_t* offsets;  ///< null: sentence * sentence_stride
  std::int64_t sentence_stride;
  std::int64_t head_stride;  ///< 0: n + 1, for sentences one after the other
  std::int64_t modifier_stride;

  TAPROOT_HOST_DEVICE int n(int b) const { return lengths == nullptr ? max_n : lengths[b]; }
};

/// The scores of one sentence.
struct SentenceView {
  const void* data;
  bool is_double;
  std::int64_t head_stride;
  std::int64_t modifier_stride;

  TAPROOT_HOST_DEVICE SentenceView(const Batch& batch, int b, int n)
      : is_double(batch.is_double),
        head_stride(batch.head_stride == 0 ? n + 1 : batch.head_stride),
        modifier_stride(batch.modifier_stride) {
    const std::int64_t offset =
        batch.offsets == nullptr ? b * batch.sentence_stride : batch.offsets[b];
    data = is_double ? static_cast<const void*>(static_cast<const double*>(batch.data) + offset)
                     : static_cast<const void*>(static_cast<const float*>(batch.data) + offset);
  }
  TAPROOT_HOST_DEVICE double operator()(int head, int modifier) const {
    const std::int64_t at = head * head_stride + modifier * modifier_stride;
    return is_double ? static_cast<const double*>(data)[at]
                     : static_cast<double>(static_cast<const float*>(data)[at]);
  }
};

}  // namespace taproot::cuda
