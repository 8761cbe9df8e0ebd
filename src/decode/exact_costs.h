// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "decode/contracted_graph.h"
#include "decode/swap_search.h"
#include "decode/tree_cost.h"

namespace taproot::detail {

/// Values of edges without rounding, for comparisons that doubles cannot decide. They are computed
/// only when asked for, and costs of nodes are then kept.
class ExactCosts {
 public:
  /// Forgets all costs. `graph` must outlive this object.
  void start(const ContractedGraph& graph);

  /// The sign of the difference of the values of two edges into node `within`.
  int compare(Edge a, Edge b, std::int32_t within);

  /// Whether swap a loses less than swap b.
  bool loses_less(const Swap& a, const Swap& b);

  /// The value of swap.lost less that of swap.taken, without rounding (Swap::loss is rounded).
  TreeCost loss(const Swap& swap);

 private:
  void add(Edge edge, std::int32_t within, TreeCost& sum) { accumulate(edge, within, 1, sum); }
  void subtract(Edge edge, std::int32_t within, TreeCost& sum) {
    accumulate(edge, within, -1, sum);
  }
  void accumulate(Edge edge, std::int32_t within, int sign, TreeCost& sum);
  bool knows(std::int32_t node) const { return node < std::ssize(known_) && known_[node] != 0; }
  const TreeCost& cost(std::int32_t node);
  void find_cost(std::int32_t node);

  const ContractedGraph* graph_ = nullptr;
  IndexedVector<TreeCost> costs_;      // The value of each node's best edge, if it is known.
  IndexedVector<std::uint8_t> known_;  // Whether it is known.
  std::vector<std::int32_t> pending_;  // The stack of find_cost().
};

}  // namespace taproot::detail
