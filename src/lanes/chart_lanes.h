// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "eliminate/factor_data.h"
#include "lanes/lanes.h"

namespace taproot::detail {

/// A sentence of a group whose weights are there.
struct LaneChart {
  const FactorData* data = nullptr;  ///< Null if the sentence has an answer already.
  const double* factors = nullptr;   ///< From scale_columns().
  double taken = 0;                  ///< The same.
  double flushed = 0;                ///< From fill_weights().

  std::size_t n() const { return data == nullptr ? 0 : static_cast<std::size_t>(data->table.n); }
};

/// answer_in_lanes() for projective trees.
void chart_in_lanes(std::span<LaneSentence> group, RootRule root, bool marginals, Scratch& scratch);

}  // namespace taproot::detail
