// SPDX-License-Identifier: Apache-2.0
//
// Elimination and, where asked for, the reverse pass: one launch for a batch of any lengths.
#pragma once

#include <cstdint>

#include "cuda/eliminate/layout.h"
#include "cuda/scores/batch.h"

namespace taproot::cuda {

/// Edge matrices in device memory, sentence by sentence.
struct EdgeOutput {
  void* data;  ///< null: not wanted
  bool is_double;
  const std::int64_t* offsets;  ///< null: sentence * sentence_stride
  std::int64_t sentence_stride;
  std::int64_t head_stride;  ///< 0: n + 1
  std::int64_t modifier_stride;
};

struct InferenceArgs {
  Batch batch;
  std::int32_t only;        ///< Sentences of this status; kEverySentence: all.
  DeviceOutcome* outcomes;  ///< [size]
  double* weights;          ///< [size][(max_n+1)^2]: scaled weights, row = head
  void* matrices;           ///< For sentences that shared memory cannot hold.
  std::int64_t matrix_stride;
  double* log_z;  ///< [size], or null
  EdgeOutput marginals;
  /// For what comes after, or null: factors by position [size][(max_n+1)^2] with rows of n+1,
  /// pivots [size][max_n+1], the nodes by position; the roots' law in sentence order; G like the
  /// factors. Clusters of blocks have none of these.
  double* factors;
  double* pivots;
  std::int32_t* order;
  double* root_law;
  double* gradient;
};

/// Says of all sentences that they are out of range.
void launch_refusal(DeviceOutcome* outcomes, int size, void* stream);

/// Launches inference_kernel on the right shape. T is double or float.
template <typename T>
void launch_inference(const InferenceArgs& args, const Shape& shape, void* stream);

}  // namespace taproot::cuda
