// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/buffer.h"
#include "taproot/scores.h"

namespace taproot::detail {

/// columns[m * ld + h] = S[h][m], with -inf on the diagonal and beyond n; row 0 holds anything.
/// Reports bad_score (the first such cell in row-major order: NaN, +inf, or beyond kMaxDecodeScore)
/// or empty. ld = leading_dimension(n).
Outcome load_columns(const ScoreView& scores, Buffer<double>& columns);

}  // namespace taproot::detail
