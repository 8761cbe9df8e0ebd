// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/format.h"
#include "core/wide.h"
#include "scores/score_table.h"

namespace taproot::detail {

/// weights[h - first][m] = exp(S[h][m]) 2^-(scale[m] (+ root_scale for h = 0)) for heads
/// first..last-1 and all columns of the table, and 0 where the edge is forbidden. The error is at
/// most 1 unit in the last place. If `sums` is not null, it receives the sums of the columns over
/// these heads (ld entries). An allowed edge whose weight is too small for a double is stored as 0.
/// Returns an exponent e such that all such weights are at most 2^e, or -inf if no edge was lost.
double fill_weights(const ScoreTable& table, int first, int last, double* weights,
                    double* sums = nullptr);

/// The same weight over Wide, which has the range to hold all of them.
Wide wide_weight(const ScoreTable& table, int head, int modifier);

}  // namespace taproot::detail
