// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/buffer.h"
#include "core/scratch.h"
#include "core/wide.h"
#include "eliminate/factor_data.h"
#include "scores/reach.h"

namespace taproot::detail {

/// The memory that elimination works in.
struct EliminateScratch : StageScratch {
  static constexpr Stage kStage = Stage::kEliminate;

  ReachScratch reach;
  Buffer<double> weights;        ///< [n+2][ld], if FactorData does not keep them.
  Buffer<double> column_sums;    ///< [2][ld]: the sums of the columns, and the keys of the words.
  Buffer<double> shares;         ///< [kMostShares][ld]: the rows that factor() divides by pivots.
  Buffer<Wide> wide_shares;      ///< [ld]: such a row over Wide.
  Buffer<double> rooted_scores;  ///< [n+1][ld]: the scores with one root allowed.
};

/// Memory for a matrix of a later stage: `own`, except for sentences so long that FactorData does
/// not keep their weights. These reuse the memory that held the weights during elimination, because
/// at that length every matrix counts. The next elimination overwrites it.
inline double* matrix_memory(const FactorData& data, Buffer<double>& own, Scratch& scratch) {
  return (data.has_weights() ? own : scratch.get<EliminateScratch>().weights)
      .resize(data.table.size());
}

}  // namespace taproot::detail
