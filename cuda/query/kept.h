// SPDX-License-Identifier: Apache-2.0
//
// Answers that are in device memory already: they are copied to where the caller wants them.
// Sentences that are not ok leave the caller's memory alone.
#pragma once

#include "cuda/eliminate/factors.h"

namespace taproot::cuda {

/// One number per sentence.
void launch_copy(const Batch& batch, const CudaOutcome* outcomes, const double* from, double* to,
                 void* stream);
void launch_copy(const Batch& batch, const CudaOutcome* outcomes, const CudaEdges& from,
                 const CudaEdges& to, void* stream);
/// p(0 -> m) of sentence b to to[b * max_n + m - 1].
void launch_copy_root_law(const Batch& batch, const Summary& summary, double* to, void* stream);

/// The outcomes of questions that need factors in float or double: those of the sentences, but
/// kCudaOutOfRange for sentences beyond the range of double.
void launch_outcomes_of_factors(const Batch& batch, const Summary& summary, CudaOutcome* to,
                                void* stream);

/// Says of all sentences that they are out of range.
void launch_refusal(CudaOutcome* outcomes, std::size_t size, void* stream);

}  // namespace taproot::cuda
