// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/hessian.h"

#include "cuda/query/infer.h"
#include "cuda/query/wide.h"

namespace taproot::cuda {

HessianQuestion take_hessian(Arena& arena, const Limits& limits, const Batch& batch,
                             const Summary& summary, const Factors& known,
                             const ConstCudaEdges& direction, const CudaEdges& out) {
  const auto nodes = static_cast<std::size_t>(batch.nodes());
  const std::size_t cells = batch.size * nodes * nodes;
  const bool kept = known.factors != nullptr;
  HessianQuestion question;
  InferenceArgs& infer = question.infer;
  infer.batch = batch;
  infer.eliminate = !kept;
  infer.reverse = true;
  infer.summary = kept ? summary : take_summary(arena, batch);
  infer.summary.entropy = nullptr;
  infer.factors = kept ? known : take_factors(arena, batch, false, true);
  infer.gradient = arena.take<double>(cells);
  take_matrices(arena, batch, limits.inference_shape(batch.max_n, sizeof(double)), infer);
  HessianArgs& h = question.hessian;
  h.batch = batch;
  h.summary = infer.summary;
  h.factors = infer.factors;
  h.gradient = infer.gradient;
  h.direction = direction;
  h.out = out;
  for (double** matrix : {&h.values, &h.tangent, &h.gradient_tangent}) {
    *matrix = arena.take<double>(cells);
  }
  h.wide = take_wide_slots(arena, limits, batch, kWideHessianMatrices);
  return question;
}

void hessian_product(const HessianQuestion& question, const Limits& limits, void* stream) {
  launch_inference<double>(question.infer, limits, stream);
  launch_hessian(question.hessian, limits.most_shared, stream);
  launch_wide_hessian(question.hessian, stream);
}

}  // namespace taproot::cuda
