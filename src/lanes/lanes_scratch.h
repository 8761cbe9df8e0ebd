// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/buffer.h"
#include "core/scratch.h"

namespace taproot::detail {

/// The memory that sentences side by side are worked on in.
struct LanesScratch : StageScratch {
  static constexpr Stage kStage = Stage::kLanes;

  Buffer<double> cells;  ///< Up to three squares of cells; see cells-inl.h.
};

}  // namespace taproot::detail
