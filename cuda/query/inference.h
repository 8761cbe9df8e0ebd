// SPDX-License-Identifier: Apache-2.0
//
// Elimination, the reverse pass, or both: one launch for a batch of any lengths.
#pragma once

#include <cstdint>

#include "core/wide.h"
#include "cuda/eliminate/factors.h"
#include "cuda/eliminate/limits.h"

namespace taproot::cuda {

inline constexpr std::int32_t kEverySentence = -1;

/// Global memory for sentences over Wide, as many at a time as there are slots.
struct WideSlots {
  detail::Wide* data = nullptr;
  std::int64_t stride = 0;
  int count = 0;
};

struct InferenceArgs {
  Batch batch;
  Summary summary;
  Factors factors;
  /// If not, the factors are there already, and sentences that have none are left alone.
  bool eliminate = true;
  bool reverse = false;
  /// Which sentences to eliminate: those of this status, or every one.
  std::int32_t only = kEverySentence;
  /// The caller's memory, beside the object's; without data: not wanted.
  CudaNumbers log_partition;
  CudaNumbers entropy;
  /// The caller's and the object's; without data: not wanted.
  CudaEdges marginals[2];
  ConstCudaNumbers factor;  ///< Of the caller's marginals; without data: 1.
  /// Whether sentences without a tree get answers too, in the caller's memory, and cells beyond a
  /// sentence's length 0.
  bool total = false;
  /// G: [size][(max_n+1)^2], otherwise like the factors. If not null, the reverse pass writes this
  /// and entropies alone.
  double* gradient = nullptr;
  void* matrices = nullptr;  ///< For sentences that shared memory cannot hold.
  std::int64_t matrix_stride = 0;
  WideSlots wide;
};

/// Launches inference_kernel in the shape for these sentences. T is double or float.
template <typename T>
void launch_inference(const InferenceArgs& args, const Limits& limits, void* stream);

}  // namespace taproot::cuda
