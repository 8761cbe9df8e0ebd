// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/buffer.h"
#include "core/scratch.h"
#include "core/wide.h"

namespace taproot::detail {

/// The memory that the reverse pass works in, and the gradient that it leaves there.
struct ReverseScratch : StageScratch {
  static constexpr Stage kStage = Stage::kReverse;

  /// [n+1][ld], from gradient_of() if the data is tame. The next elimination may overwrite it; see
  /// matrix_memory().
  const double* gradient = nullptr;
  Buffer<double> gradient_memory;
  Buffer<Wide> wide_gradient;   ///< [n+1][ld], from gradient_of() if it is not.
  Buffer<double> panel;         ///< The rows of a panel of words in gradient().
  Buffer<double> tangent_rows;  ///< [4][ld]: rows in gradient_tangent().
  Buffer<Wide> wide_rows;       ///< [2][ld]: rows in gradient_simply().
  Buffer<Wide> wide_matrix;     ///< [n+1][ld]: factors converted from double.
  Buffer<Wide> wide_pivot;      ///< [ld]
};

}  // namespace taproot::detail
