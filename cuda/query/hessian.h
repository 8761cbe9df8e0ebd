// SPDX-License-Identifier: Apache-2.0
//
// The Hessian of log Z times a vector, after launch_inference() has left factors and G in double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/eliminate/limits.h"
#include "cuda/query/inference.h"

namespace taproot::cuda {

struct HessianArgs {
  Batch batch;
  Summary summary;
  Factors factors;
  const double* gradient = nullptr;  ///< G: [size][(max_n+1)^2], otherwise like the factors.
  ConstCudaEdges direction;
  /// Which sentences need the derivatives of both passes, since products would cancel: [size].
  /// Null: all of them.
  std::int32_t* by_tangents = nullptr;
  // Scratch of these, [slots][(max_n+1)^2] each, with rows of n + 1.
  int slots = 0;
  double* values = nullptr;            ///< [h][m], by word.
  double* tangent = nullptr;           ///< dA, like the factors.
  double* gradient_tangent = nullptr;  ///< dG, likewise.
  CudaEdges out;
  double factor = 1;  ///< Of the answer.
  /// Whether sentences without a tree get answers too, and cells beyond a sentence's length 0.
  bool total = false;
  WideSlots wide;  ///< With kWideHessianMatrices each.
};

inline constexpr int kWideHessianMatrices = 5;

/// An elimination, unless its factors are there already, and what comes after it.
struct HessianQuestion {
  InferenceArgs infer;
  HessianArgs hessian;
};

/// The memory for what `asked` wants, but of the sentences of `batch`. `known`, if it has factors
/// in double, is used.
HessianQuestion take_hessian(Arena& arena, const Limits& limits, const Batch& batch,
                             const Summary& summary, const Factors& known,
                             const CudaHessian& asked);

/// Derivatives are differences, so that all of it is in double.
void hessian_product(const HessianQuestion& question, const Limits& limits, void* stream);

/// By two matrix products, where these are accurate enough; sets by_tangents.
void launch_hessian_products(const HessianArgs& args, void* stream);
/// Whether they have room in so many bytes of shared memory per block.
bool products_fit(int max_n, std::size_t most_shared);

/// By the derivatives of both passes, where by_tangents says so.
void launch_hessian(const HessianArgs& args, const Limits& limits, void* stream);
/// How many sentences at a time.
int hessian_slots(const Batch& batch, const Limits& limits);

/// The same for the sentences beyond the range of double. They need no factors, and no gradient.
void launch_wide_hessian(const HessianArgs& args, void* stream);

}  // namespace taproot::cuda
