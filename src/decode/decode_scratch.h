// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/chart/best_chart.h"
#include "decode/edmonds.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// The memory that decoders work in.
struct DecodeScratch : StageScratch {
  static constexpr Stage kStage = Stage::kDecode;

  Edmonds edmonds;
  BestChart chart;
  Buffer<ChartCell> cells;     ///< The choices that a walk down the chart has before it.
  Buffer<double> columns;      ///< [n+1][ld]: the scores as in EdgeGraph.
  Buffer<double> scores;       ///< [n+1][ld], row = head: what mbr() maximizes.
  Buffer<std::int32_t> heads;  ///< [n+1]: the best tree, by word.
};

}  // namespace taproot::detail
