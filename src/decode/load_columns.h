// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/buffer.h"
#include "taproot/scores.h"

namespace taproot::detail {

/// columns[m * ld + h] = S[h][m], with -inf on the diagonal and beyond n; row 0 holds anything.
/// ld = leading_dimension(n). The outcome is the one that load_scores() reports: bad_score with the
/// first such cell in row-major order (NaN, +inf, or beyond kMaxScore), or empty.
Outcome load_columns(const ScoreView& scores, Buffer<double>& columns);

}  // namespace taproot::detail
