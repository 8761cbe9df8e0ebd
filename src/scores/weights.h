// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/format.h"
#include "core/wide.h"
#include "scores/score_table.h"

namespace taproot::detail {

/// weights[h - first][m] = exp(S[h][m]) 2^-(scale[m] (+ root_scale for h = 0)) for heads
/// first..last-1 and all columns of the table; 0 where the edge is forbidden. At most 1 unit in the
/// last place off. Returns an exponent e such that no weight of an allowed edge that was set to 0
/// is above 2^e; -inf when there was none. `sums`, if not null, takes the columns' sums over those
/// heads (ld entries).
double fill_weights(const ScoreTable& table, int first, int last, double* weights,
                    double* sums = nullptr);

/// The same weight on the wide scalar: never flushed.
Wide wide_weight(const ScoreTable& table, int head, int modifier);

}  // namespace taproot::detail
