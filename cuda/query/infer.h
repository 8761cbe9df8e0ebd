// SPDX-License-Identifier: Apache-2.0
//
// The launches that answer a batch, whatever the range of its sentences, and the workspace of these
// launches.
#pragma once

#include "cuda/core/arena.h"
#include "cuda/eliminate/limits.h"
#include "cuda/query/inference.h"
#include "taproot/cuda.h"

namespace taproot::cuda {

/// Takes memory for the matrices of sentences that shared memory cannot hold.
template <typename Args>
void take_matrices(Arena& arena, const Batch& piece, const Shape& shape, Args& args) {
  args.matrix_stride = std::int64_t{Layout::rows_in_groups(piece.max_n)} *
                       Layout::ld_in_groups(piece.max_n, sizeof(float));
  if (shape.shared) return;
  args.matrices = arena.take<double>(piece.size * static_cast<std::size_t>(args.matrix_stride));
}

/// Takes the memory that infer() needs beyond the summary and the factors.
void take_infer_memory(Arena& arena, const Limits& limits, InferenceArgs& args);

/// Elimination, reverse pass or both in a precision. The sentences that the range of float32 does
/// not fit are done again in double, and those that the range of double does not fit over Wide.
void infer(InferenceArgs args, Precision precision, const Limits& limits, void* stream);

}  // namespace taproot::cuda
