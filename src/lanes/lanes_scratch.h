// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "core/buffer.h"
#include "core/scratch.h"
#include "eliminate/factor_data.h"
#include "lanes/lanes.h"

namespace taproot::detail {

/// The memory that sentences side by side are worked on in.
struct LanesScratch : StageScratch {
  static constexpr Stage kStage = Stage::kLanes;

  std::array<FactorData, kLaneGroup> sentences;  ///< Scores, weights and orders.
  Buffer<double> cells;                          ///< Squares of cells; see cells-inl.h.
  Buffer<double> column_sums;                    ///< [ld]
  Buffer<double> factors;                        ///< [8][ld]: the powers of two of charts' columns.
  Buffer<double> head_rows;                      ///< [8][ld]: columns of the gradient as rows.
  Buffer<double> marginals;                      ///< [8][n+1][n+1]: on their way out.
};

}  // namespace taproot::detail
