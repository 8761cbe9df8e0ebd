// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/buffer.h"
#include "core/scratch.h"
#include "core/wide.h"
#include "scores/reach.h"

namespace taproot::detail {

/// The memory that elimination works in.
struct EliminateScratch : StageScratch {
  static constexpr Stage kStage = Stage::kEliminate;

  ReachScratch reach;
  Buffer<double> weights;        ///< Of a sentence too long for FactorData to keep its weights.
  Buffer<double> column_sums;    ///< [2][ld]: the sums of the columns, and the keys of the words.
  Buffer<double> shares;         ///< [kMostShares][ld]: the rows that factor() divides by pivots.
  Buffer<Wide> wide_shares;      ///< [ld]: such a row over Wide.
  Buffer<double> rooted_scores;  ///< [n+1][ld]: the scores with one root allowed.
};

}  // namespace taproot::detail
