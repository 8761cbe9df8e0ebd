// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/infer.h"

#include "cuda/query/wide.h"

namespace taproot::cuda {

void take_infer_memory(Arena& arena, const Limits& limits, InferenceArgs& args) {
  take_matrices(arena, args.batch, limits.inference_shape(args.batch.max_n, sizeof(double)), args);
  args.wide = take_wide_slots(arena, limits, args.batch, wide_matrices(args));
}

void infer(InferenceArgs args, Precision precision, const Limits& limits, void* stream) {
  if (precision == Precision::kFloat32) {
    launch_inference<float>(args, limits, stream);
    args.only = kCudaOutOfRange;
  }
  launch_inference<double>(args, limits, stream);
  launch_wide_inference(args, stream);
}

}  // namespace taproot::cuda
