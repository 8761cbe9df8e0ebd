// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/matrix_view.h"
#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot::detail {

struct Edge {
  std::int32_t head;
  std::int32_t modifier;
};

/// A sentence in the layout that decoders use: columns[m * ld + h] is the score of h -> m. It is
/// -inf on the diagonal, beyond n, and where an edge is forbidden. Row 0 is not read.
struct EdgeGraph {
  const double* columns;
  std::size_t ld;
  int n;
  RootRule root;
  /// If not null, scores are looked up here, because the columns are overwritten; see
  /// Edmonds::best_of().
  const ScoreView* view = nullptr;

  double score(std::int32_t head, std::int32_t modifier) const {
    if (view != nullptr) return (*view)(head, modifier);
    return MatrixView(columns, ld)(modifier, head);
  }
};

}  // namespace taproot::detail
