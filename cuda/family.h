// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/core/arena.h"
#include "cuda/decode/argmax.h"
#include "cuda/eliminate/limits.h"
#include "cuda/query/expectation.h"
#include "cuda/query/hessian.h"
#include "cuda/query/inference.h"
#include "cuda/sample/sample.h"
#include "taproot/cuda.h"

namespace taproot::cuda {

/// What the families of trees do in their own way on a device. take_...() takes the workspace that
/// the function after it needs. Everything else is written once and does not ask.
struct FamilyKernels {
  void (*take_infer_memory)(Arena& arena, const Limits& limits, InferenceArgs& args);
  void (*infer)(InferenceArgs args, Precision precision, const Limits& limits, void* stream);
  HessianQuestion (*take_hessian)(Arena& arena, const Limits& limits, const Batch& batch,
                                  const Summary& summary, const Factors& known,
                                  const CudaHessian& asked);
  void (*hessian_product)(const HessianQuestion& question, const Limits& limits, void* stream);
  void (*take_divergence_memory)(Arena& arena, const Limits& limits, DivergenceArgs& args);
  void (*divergence)(const DivergenceArgs& args, void* stream);
  void (*take_argmax_memory)(Arena& arena, const Limits& limits, ArgmaxArgs& args);
  void (*argmax)(const ArgmaxArgs& args, const Limits& limits, void* stream);
  void (*take_sample_memory)(Arena& arena, const Limits& limits, SampleArgs& args);
  void (*sample)(const SampleArgs& args, const Limits& limits, void* stream);
};

const FamilyKernels& kernels_of(TreeFamily family);

}  // namespace taproot::cuda
