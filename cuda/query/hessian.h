// SPDX-License-Identifier: Apache-2.0
//
// The Hessian of log Z times a vector, after launch_inference() left factors and G.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/query/inference.h"

namespace taproot::cuda {

/// Edge values in device memory, to be read.
struct EdgeInput {
  const void* data;
  bool is_double;
  std::int64_t sentence_stride;
  std::int64_t head_stride;
  std::int64_t modifier_stride;
};

/// Matrices are [size][(max_n+1)^2] with rows of n+1.
struct HessianArgs {
  Batch batch;
  const DeviceOutcome* outcomes;
  const double* weights;  ///< [h][m], scaled, by word
  const double* factors;  ///< [m][h], by position, and so are those below
  const double* pivots;   ///< [size][max_n+1]
  const std::int32_t* order;
  const double* gradient;
  EdgeInput direction;
  double* values;            ///< [h][m], by word
  double* tangent;           ///< dA
  double* gradient_tangent;  ///< dG
  EdgeOutput out;
};

/// Bytes of shared memory, and how many warps of a block then share the rows; 0: too long.
int hessian_parts(int max_n, std::size_t most_shared);

void launch_hessian(const HessianArgs& args, std::size_t most_shared, void* stream);

}  // namespace taproot::cuda
