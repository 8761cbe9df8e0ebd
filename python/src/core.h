// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "arrays.h"
#include "pool.h"
#include "taproot/dependency_trees.h"

namespace taproot::python {

/// The DependencyTrees behind the one in Python, with the arrays that it reads. Output arrays are
/// padded: sentence b of [B][N] or [B][N+1][N+1] uses the first lengths[b] words.
struct Core {
  Floats scores;
  std::optional<Floats> label_scores;
  int padded_n;
  DependencyTrees trees;

  std::size_t size() const { return trees.size(); }
  std::size_t row() const { return static_cast<std::size_t>(padded_n); }
  std::size_t side() const { return row() + 1; }
  std::size_t cells() const { return side() * side(); }
};

}  // namespace taproot::python
