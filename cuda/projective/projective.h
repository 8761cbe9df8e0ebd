// SPDX-License-Identifier: Apache-2.0
//
// What the device does for projective trees. The functions answer the questions of
// query/infer.h, query/hessian.h, query/expectation.h, decode/argmax.h and sample/sample.h, and
// family.h chooses between the two.
#pragma once

#include "cuda/core/arena.h"
#include "cuda/decode/argmax.h"
#include "cuda/eliminate/limits.h"
#include "cuda/query/expectation.h"
#include "cuda/query/hessian.h"
#include "cuda/query/inference.h"
#include "cuda/sample/sample.h"

namespace taproot::cuda::projective {

void take_infer_memory(Arena& arena, const Limits& limits, InferenceArgs& args);

/// In double whatever the precision is: charts are as exact as the host's, and few sentences would
/// fit the range of float. Sentences beyond the range of double are done over Wide.
void infer(InferenceArgs args, Precision precision, const Limits& limits, void* stream);

HessianQuestion take_hessian(Arena& arena, const Limits& limits, const Batch& batch,
                             const Summary& summary, const Factors& known,
                             const CudaHessian& asked);
void hessian_product(const HessianQuestion& question, const Limits& limits, void* stream);

void take_divergence_memory(Arena& arena, const Limits& limits, DivergenceArgs& args);
void launch_divergence(const DivergenceArgs& args, void* stream);

void take_argmax_memory(Arena& arena, const Limits& limits, ArgmaxArgs& args);
void launch_argmax(const ArgmaxArgs& args, const Limits& limits, void* stream);

void take_sample_memory(Arena& arena, const Limits& limits, SampleArgs& args);
void launch_sample(const SampleArgs& args, const Limits& limits, void* stream);

}  // namespace taproot::cuda::projective
