// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scores/score_table.h"

namespace taproot::detail {

/// Whether the probabilities of all trees, and of all parts of trees, are within double's range: no
/// part is less probable than the product over all columns of smallest weight over sum.
bool fits_double(const ScoreTable& table);

}  // namespace taproot::detail
