// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scores/score_table.h"

namespace taproot::detail {

/// Whether the probabilities of trees, and of parts of trees, surely fit double's range: each is at
/// least the product, over all columns, of the smallest weight divided by the sum of weights.
bool fits_double(const ScoreTable& table);

}  // namespace taproot::detail
