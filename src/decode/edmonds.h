// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/buffer.h"
#include "decode/edge_graph.h"
#include "decode/tree_cost.h"

namespace taproot::detail {

/// The best tree of a dense graph in O(n^2), by contraction (Chu and Liu 1965, Edmonds 1967, Tarjan
/// 1977). A path of best heads is grown until it meets ROOT or itself. In the second case the cycle
/// becomes one node, and an edge into it is worth its score less that of the edge it replaces.
///
/// Single-root, the tree with the fewest ROOT edges is best, and among those the one of highest
/// score. So a node takes a ROOT edge only if no other edge enters it, which one node may. Such an
/// edge is never in a cycle, so contraction subtracts scores alone and no numbers of ROOT edges.
///
/// The result is exact: values are compared in double with a bound on their error, and where that
/// does not decide, without rounding. TreeCost breaks ties.
///
/// contract.h has the contraction, swap_search.h and find_swap-inl.h the search for the second-best
/// tree, exact_costs.h the comparisons without rounding.
class Edmonds {
 public:
  using Cost = TreeCost;

  Edmonds();
  ~Edmonds();
  Edmonds(Edmonds&&) noexcept;
  Edmonds& operator=(Edmonds&&) noexcept;

  /// Finds the heads of the best tree, by word, [n+1]. Returns false if there is no tree.
  bool best(const EdgeGraph& graph, std::int32_t* heads);

  /// The same for columns that may be overwritten, which saves a copy. graph.view must have the
  /// scores.
  bool best_of(Buffer<double>& columns, const EdgeGraph& graph, std::int32_t* heads);

  /// Given `heads`, the best tree of `graph`, finds the word whose edge must be forbidden to make
  /// the second-best tree the best, and the difference of the two scores (Camerini, Fratta and
  /// Maffioli 1980). Returns false if there is no other tree.
  bool next(const EdgeGraph& graph, const std::int32_t* heads, std::int32_t& modifier, Cost& loss);

  /// The score of a tree.
  static Cost total(const EdgeGraph& graph, const std::int32_t* heads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taproot::detail
