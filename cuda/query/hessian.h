// SPDX-License-Identifier: Apache-2.0
//
// The Hessian of log Z times a vector, after launch_inference() has left factors and G in double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/query/inference.h"

namespace taproot::cuda {

struct HessianArgs {
  Batch batch;
  Summary summary;
  Factors factors;
  const double* gradient = nullptr;  ///< G: [size][(max_n+1)^2], otherwise like the factors.
  ConstCudaEdges direction;
  // Scratch, [size][(max_n+1)^2] each, with rows of n + 1.
  double* values = nullptr;            ///< [h][m], by word.
  double* tangent = nullptr;           ///< dA, like the factors.
  double* gradient_tangent = nullptr;  ///< dG, likewise.
  CudaEdges out;
  WideSlots wide;  ///< With kWideHessianMatrices each.
};

inline constexpr int kWideHessianMatrices = 5;

/// `most_shared` is how many bytes of shared memory a block may have.
void launch_hessian(const HessianArgs& args, std::size_t most_shared, void* stream);

/// The same for the sentences beyond the range of double. They need no factors, and no gradient.
void launch_wide_hessian(const HessianArgs& args, void* stream);

}  // namespace taproot::cuda
