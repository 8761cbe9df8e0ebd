// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/edmonds.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// The memory that decoders work in.
struct DecodeScratch : StageScratch {
  static constexpr Stage kStage = Stage::kDecode;

  Edmonds edmonds;
  Buffer<double> columns;      ///< [n+1][ld]: the scores as in EdgeGraph.
  Buffer<std::int32_t> heads;  ///< [n+1]: the best tree, by word.
};

}  // namespace taproot::detail
