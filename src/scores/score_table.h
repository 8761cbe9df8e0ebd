// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/buffer.h"
#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot::detail {

/// One sentence's scores, checked and in one layout, with the power of two by which each column of
/// the weights is scaled. All later stages read scores from here.
struct ScoreTable {
  int n = 0;
  RootRule root = RootRule::kSingle;
  std::size_t ld = 0;
  bool has_forbidden = false;  ///< Whether some edge is forbidden, that is, has the score -inf.

  /// [n+1][ld], row = head. -inf in column 0, on the diagonal, beyond column n, and where an edge
  /// is forbidden.
  Buffer<double> scores;

  /// The weights of column m are exp(S) * 2^-scale[m], so the largest of a column is in [0.6, 1.6).
  /// The scales are integers held as doubles, because vector code uses them. scale[ld + m] is
  /// scale[m] + root_scale, which scales the ROOT row.
  Buffer<double> scale;

  /// Single-root only: a further power of two by which the ROOT row is scaled. It is a common
  /// factor of all trees, because each has exactly one ROOT edge.
  double root_scale = 0;

  /// The scale of a whole tree: the sum of scale[1..n] and root_scale. Rounded if beyond 2^53.
  double total_scale = 0;

  /// An upper bound of the magnitudes of all scales.
  double furthest_scale = 0;

  std::size_t nodes() const { return node_count(n); }
  std::size_t size() const { return nodes() * ld; }  ///< Of a matrix [n+1][ld].
  const double* row(std::integral auto head) const {
    return MatrixView(scores.data(), ld).row(head);
  }
  /// The scale of the weight of head -> modifier.
  double scale_of(int head, int modifier) const {
    return MatrixView(scale.data(), ld)(head == 0 ? 1 : 0, modifier);
  }
  bool allows(int head, int modifier) const { return row(head)[modifier] != -HUGE_VAL; }
};

/// Fills `table` from `view` and reports bad_score (the first such cell) or empty. O(n^2).
Outcome load_scores(const ScoreView& view, RootRule root, ScoreTable& table);

/// The log of the scaled weight of an edge: its score less ln 2 times the scale of its column (and
/// of its row, if the head is ROOT). Large offsets common to a column cancel before they round.
double scaled_score(const ScoreTable& table, int head, int modifier);

}  // namespace taproot::detail
