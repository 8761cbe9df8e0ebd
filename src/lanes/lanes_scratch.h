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

  std::array<FactorData, kLaneGroup> sentences;  ///< Scores and weights of single sentences.
  Buffer<double> scores;       ///< [8][n+1][n+1]: those that cannot be read in place.
  Buffer<double> cells;        ///< Squares of cells; see cells-inl.h.
  Buffer<double> column_sums;  ///< [ld]
  Buffer<double> factors;      ///< [8][ld]: the powers of two of charts' columns.
};

}  // namespace taproot::detail
