// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/hessian.h"

#include "cuda/query/infer.h"
#include "cuda/query/wide.h"

namespace taproot::cuda {

HessianQuestion take_hessian(Arena& arena, const Limits& limits, const Batch& batch,
                             const Summary& summary, const Factors& known,
                             const CudaHessian& asked) {
  const auto nodes = static_cast<std::size_t>(batch.nodes());
  const bool kept = known.factors != nullptr;
  HessianQuestion question;
  InferenceArgs& infer = question.infer;
  infer.batch = batch;
  infer.eliminate = !kept;
  infer.reverse = true;
  infer.summary = kept ? summary : take_summary(arena, batch);
  infer.summary.entropy = nullptr;
  if (asked.outcomes != nullptr) infer.summary.outcomes = asked.outcomes;
  infer.entropy = asked.entropy;
  infer.total = asked.entropy.data != nullptr;
  infer.factors = kept ? known : take_factors(arena, batch, false, true);
  infer.gradient = arena.take<double>(batch.size * nodes * nodes);
  take_matrices(arena, batch, limits.inference_shape(batch.max_n, sizeof(double)), infer);
  HessianArgs& h = question.hessian;
  h.batch = batch;
  h.summary = infer.summary;
  h.factors = infer.factors;
  h.gradient = infer.gradient;
  h.direction = asked.direction;
  h.out = asked.out;
  h.factor = asked.factor;
  if (products_fit(batch.max_n, limits.most_shared)) {
    h.by_tangents = arena.take<std::int32_t>(batch.size);
  }
  h.slots = hessian_slots(batch, limits);
  for (double** matrix : {&h.values, &h.tangent, &h.gradient_tangent}) {
    *matrix = arena.take<double>(static_cast<std::size_t>(h.slots) * nodes * nodes);
  }
  h.wide = take_wide_slots(arena, limits, batch, kWideHessianMatrices);
  infer.wide = h.wide;  // One after the other.
  return question;
}

void hessian_product(const HessianQuestion& question, const Limits& limits, void* stream) {
  launch_inference<double>(question.infer, limits, stream);
  if (question.infer.entropy.data != nullptr) launch_wide_inference(question.infer, stream);
  if (question.hessian.by_tangents != nullptr) launch_hessian_products(question.hessian, stream);
  launch_hessian(question.hessian, limits, stream);
  launch_wide_hessian(question.hessian, stream);
}

}  // namespace taproot::cuda
