// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/buffer.h"
#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot::detail {

/// One sentence's scores, checked and in one layout, with the power of two by which each column of
/// the weights is scaled. Everything after this stage reads scores from here.
struct ScoreTable {
  int n = 0;
  RootRule root = RootRule::kSingle;
  std::size_t ld = 0;
  bool has_forbidden = false;

  /// [n+1][ld]; -inf in column 0, on the diagonal, beyond column n, and where an edge is forbidden.
  Buffer<double> scores;

  /// scale[m]: the weights of column m are exp(S) * 2^-scale[m]. Integers, held as doubles because
  /// they are used in vector arithmetic. The largest weight of a column is then in [0.6, 1.6).
  /// A second row, scale[ld + m], has root_scale added: it is the ROOT row's.
  Buffer<double> scale;

  /// Single-root: a further power of two taken out of the ROOT row (a tree uses it exactly once).
  double root_scale = 0;

  /// Of all weights of a tree together: the sum of scale[1..n] and root_scale, rounded beyond 2^53.
  double total_scale = 0;

  /// No scale is larger in magnitude.
  double furthest_scale = 0;

  const double* row(int head) const { return scores.data() + static_cast<std::size_t>(head) * ld; }
  bool allows(int head, int modifier) const { return row(head)[modifier] != -HUGE_VAL; }
};

/// Fills `table` from `view` and reports bad_score (the first such cell) or empty. O(n^2).
Outcome load_scores(const ScoreView& view, RootRule root, ScoreTable& table);

/// S[h][m] with the scales of its column and, for ROOT, of its row taken out: the log of the scaled
/// weight. Large common offsets thus cancel before they round.
double scaled_score(const ScoreTable& table, int head, int modifier);

}  // namespace taproot::detail
