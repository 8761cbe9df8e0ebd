// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eliminate/factor_data.h"
#include "sample/chart/chart_cell.h"
#include "sample/conditionals/path_scratch.h"
#include "sample/walk/pop_scratch.h"

namespace taproot::detail {

/// The memory that samplers work in, both while their tables are built and for each tree.
struct SampleScratch : StageScratch {
  static constexpr Stage kStage = Stage::kSample;

  Buffer<double> weights_by_modifier;  ///< [n+1][ld], from weights_by_modifier().
  Buffer<double> head_weights;         ///< [ld]: the weights of one head.
  Buffer<double> root_law;             ///< The probabilities of the roots, and their alias shares.
  Buffer<double> alias_shares;         ///< [n+1], for fill_alias().
  Buffer<std::int32_t> alias_queues;   ///< Two queues of indices, for fill_alias().

  Buffer<std::int32_t> heads;           ///< [k][n]: the trees that are being sampled.
  Buffer<std::int32_t> attempt;         ///< Likewise: a later attempt of wilson-reject.
  Buffer<ChartCell> cells;              ///< The choices that a walk down a chart has before it.
  Buffer<std::int32_t> un_elimination;  ///< The five integer arrays of UnEliminationScratch.
  Buffer<double> root_column;           ///< [4][ld]: a RootColumn, and a row of weights.
  Buffer<Wide> wide_root_column;        ///< The same over Wide.
  PopScratch pop;                       ///< For popping one cycle after the other.
  PathScratch path;                     ///< For deciding a tree head by head.

  Buffer<double> certainty;    ///< [ld]: how certain the head of each word is.
  Buffer<double> root_rows;    ///< [2][ld]: the gradient and the weights of the ROOT row.
  Buffer<Wide> wide_root_row;  ///< [ld]: the gradient of the ROOT row.
  Buffer<Wide> wide_matrix;    ///< [n+1][ld]: factors over Wide.
  Buffer<Wide> wide_pivot;     ///< [ld]: the pivots of these factors.
  FactorData rooted;           ///< The same scores given a root.
  Buffer<double> unit_scores;  ///< [n+1][ld]: 0 for every allowed edge, so that Z counts trees.
  FactorData unit_factors;     ///< The factors of unit_scores.
};

}  // namespace taproot::detail
