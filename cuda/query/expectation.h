// SPDX-License-Identifier: Apache-2.0
//
// Sums over the marginals of each sentence: expectations, cross-entropies and KL divergences.
#pragma once

#include "cuda/core/arena.h"
#include "cuda/eliminate/limits.h"
#include "cuda/query/inference.h"
#include "query/wide_entry.h"

namespace taproot::cuda {

struct ExpectationArgs {
  Batch batch;
  Summary summary;
  CudaEdges marginals;
  ConstCudaEdges values;
  double* out = nullptr;  ///< [size]
};

void launch_expectation(const ExpectationArgs& args, void* stream);

struct DivergenceArgs {
  detail::Divergence kind = detail::Divergence::kCrossEntropy;
  Batch p;
  Batch q;
  Summary p_summary;
  Summary q_summary;
  CudaEdges marginals;           ///< Of p.
  double* out = nullptr;         ///< [size]
  std::int32_t* wide = nullptr;  ///< [size]: whether a sentence is left to the wide scalar.
  WideSlots slots;
};

void take_divergence_memory(Arena& arena, const Limits& limits, DivergenceArgs& args);

/// Sentences of which one of the two is not ok are left alone.
void launch_divergence(const DivergenceArgs& args, void* stream);

}  // namespace taproot::cuda
