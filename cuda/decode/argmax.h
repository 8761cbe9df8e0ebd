// SPDX-License-Identifier: Apache-2.0
//
// The best tree of each sentence, exactly: the tree that src/decode/ finds.
#pragma once

#include <cstdint>

#include "cuda/core/arena.h"
#include "cuda/eliminate/limits.h"
#include "cuda/scores/batch.h"

namespace taproot::cuda {

struct ArgmaxArgs {
  Batch batch;
  /// What is maximized over trees: the sum of these probabilities of edges or, if they have no
  /// data, the sum of the scores.
  ConstCudaEdges values;
  /// If not null, sentences that are not ok here have no tree.
  const CudaOutcome* known = nullptr;
  CudaOutcome* outcomes = nullptr;  ///< [size]
  CudaHeadBuffer out;               ///< One tree per sentence.
  CudaNumbers score;                ///< The sum of the tree's scores; without data: not wanted.
  /// Global memory for what shared memory cannot hold, for as many sentences at a time.
  unsigned char* slots = nullptr;
  std::int64_t slot_bytes = 0;
  int slot_count = 0;
};

/// Takes the workspace, and memory for the outcomes unless the caller has it.
void take_argmax_memory(Arena& arena, const Limits& limits, ArgmaxArgs& args);

void launch_argmax(const ArgmaxArgs& args, const Limits& limits, void* stream);

}  // namespace taproot::cuda
