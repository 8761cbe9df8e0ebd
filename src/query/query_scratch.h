// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eliminate/factor_data.h"
#include "scores/reach.h"

namespace taproot::detail {

/// The memory that queries work in.
struct QueryScratch : StageScratch {
  static constexpr Stage kStage = Stage::kQuery;

  ReachScratch reach;
  Buffer<std::uint8_t> supported;  ///< [n+1]: which heads of one word some tree uses.
  Buffer<std::uint8_t> support;    ///< [n+1][n+1]: which edges some projective tree has.
  Buffer<double> marginals;        ///< [n+1][ld], from marginals_in().
  Buffer<double> head_rows;        ///< [2 kHeads + 1][ld]: rows of the heads in progress.
  Buffer<double> root_rows;        ///< [2][ld]: the gradient and the weights of the ROOT row.
  Buffer<Wide> wide_root_rows;     ///< [3][ld]: the same over Wide, by position and by word.
  Buffer<double> direction;        ///< [n+1][ld]: what hessian_product() multiplies by.
  Buffer<double> column_means;     ///< [3][ld]: sums and masses of its columns, and weights.
  Buffer<double> tangents;         ///< [2][n+1][ld]: derivatives of the weights and the gradient.
  Buffer<Wide> wide_tangents;      ///< The same over Wide.
  Buffer<Wide> wide_tangent_rows;  ///< [4][ld]: rows in gradient_tangent_simply().
  /// The same scores under the other root rule, of the other family, or given a root.
  FactorData other;
};

}  // namespace taproot::detail
