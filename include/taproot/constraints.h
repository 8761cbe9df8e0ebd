// SPDX-License-Identifier: Apache-2.0
//
// What a tree must and must not have. Constraints are masks: they yield scores in which the edges
// that are ruled out are -inf, and every query, sampler and decoder takes those. Constraints that
// contradict each other leave no tree: the outcome is no_tree.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot {

/// Forced and forbidden edges, allowed roots. None at first.
class TAPROOT_API Constraints {
 public:
  /// Requires, or rules out, that the head of `modifier` is `head`, 0 for ROOT. Both throw
  /// std::invalid_argument if head < 0, modifier < 1 or the two are equal.
  Constraints& force(int head, int modifier);
  Constraints& forbid(int head, int modifier);
  /// Only these words may hang off ROOT; after several calls, only the words that all of them name.
  /// Throws std::invalid_argument if a word is below 1.
  Constraints& allow_roots(std::span<const std::int32_t> words);
  /// Forces the head of every word for which `heads` has one, heads[i - 1] for word i; negative
  /// entries are left open. Throws std::invalid_argument if an earlier partial tree had another
  /// length.
  Constraints& force_partial_tree(TreeView heads);

  bool empty() const { return forced_.empty() && forbidden_.empty() && !has_roots_ && length_ < 0; }

  /// Whether all words and heads that are named are those of a sentence of n words. (A partial tree
  /// must have n heads.)
  bool fits(int n) const;

  /// The scores with what is ruled out at -inf: row-major [n+1][n+1], in `memory`, which the view
  /// reads. `scores` may be a row-major view of `memory` itself. Throws std::invalid_argument
  /// unless fits().
  ScoreView apply(const ScoreView& scores, std::vector<double>& memory) const;

 private:
  using Edge = std::pair<std::int32_t, std::int32_t>;

  std::vector<Edge> forced_;
  std::vector<Edge> forbidden_;
  std::vector<std::int32_t> roots_;
  bool has_roots_ = false;
  std::int32_t length_ = -1;  // Of a partial tree.
};

}  // namespace taproot
