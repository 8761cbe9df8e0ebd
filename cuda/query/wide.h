// SPDX-License-Identifier: Apache-2.0
//
// Sentences beyond the range of double, over the wide scalar: elimination, the reverse pass and the
// entropy. They are rare, so matrices are in global memory and few sentences are done at a time.
#pragma once

#include "cuda/core/arena.h"
#include "cuda/eliminate/limits.h"
#include "cuda/query/inference.h"

namespace taproot::cuda {

/// Takes slots for sentences of the batch, each with room for so many matrices of Wide.
WideSlots take_wide_slots(Arena& arena, const Limits& limits, const Batch& batch, int matrices);

/// How many matrices a slot needs for these answers.
int wide_matrices(const InferenceArgs& args);

/// With args.eliminate, finishes the sentences that have the outcome kCudaOutOfRange, whose outcome
/// is then ok; else, the reverse pass of those that were finished so. Other sentences are left
/// alone.
void launch_wide_inference(const InferenceArgs& args, void* stream);

}  // namespace taproot::cuda
