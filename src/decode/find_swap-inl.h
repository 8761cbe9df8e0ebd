// SPDX-License-Identifier: Apache-2.0
//
// Finds the best swap of an edge of the best tree. Included once per target; see core/simd-inl.h
// for the guard.
#if defined(TAPROOT_DECODE_FIND_SWAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_DECODE_FIND_SWAP_INL_H_
#undef TAPROOT_DECODE_FIND_SWAP_INL_H_
#else
#define TAPROOT_DECODE_FIND_SWAP_INL_H_
#endif

#include <cmath>

#include "decode/find_best-inl.h"
#include "decode/swap_search.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Finds the best edge that can replace the best edge into a node, which must be in the best tree,
// without changing the rest of the tree. Returns false if there is none.
HWY_INLINE bool find_swap(const ContractedGraph& g, ExactCosts& exact, SwapSearch& swaps,
                          int32_t id, Swap& swap) {
  const size_t ld = g.edges.ld;
  const ContractedGraph::Node& node = g.nodes[id];
  const bool single = g.edges.root == RootRule::kSingle;
  const int32_t head = node.edge.head;
  double best = -HUGE_VAL;
  swap = {node.edge, {0, 0}, id, 0, 0};
  // An edge from another head, which must not be below the edge's modifier in the tree.
  if (!(single && head == 0)) {
    const double* row = MatrixView(g.rows.data(), ld).row(node.row);
    double* others = swaps.others.data();
    const double enter = swaps.enter[node.edge.modifier];
    const double leave = swaps.leave[node.edge.modifier];
    for (size_t h = 0; h < ld; ++h) {
      const bool below = swaps.enter[h] >= enter && swaps.enter[h] <= leave;
      others[h] = below ? -HUGE_VAL : row[h];
    }
    others[head] = -HUGE_VAL;
    const int other = find_best(g, exact, id, others, single ? 1 : 0);
    if (other >= 0) {
      best = others[other] - node.base.high;
      swap.taken = edge_into(g, id, static_cast<size_t>(other));
    }
  }
  // An edge from the same head to another word of the node.
  for (int32_t m = node.first; m != 0; m = g.next_word[m]) {
    const double score = g.edges.score(head, m);
    if (m == node.edge.modifier || score == -HUGE_VAL) continue;
    const DoubleDouble cost = g.cost_of(m);
    const double value = (score - cost.high) - cost.low;
    const double slack =
        (node.rounds + 2) * kUnit * (std::abs(value) + node.magnitude + std::abs(node.base.high));
    const Edge edge{head, m};
    if (best == -HUGE_VAL || value > best + slack ||
        (value >= best - slack && exact.compare(edge, swap.taken, id) > 0)) {
      best = value;
      swap.taken = edge;
    }
  }
  if (best == -HUGE_VAL) return false;
  swap.loss = node.value.high - best;
  swap.error = (node.rounds + 2) * kUnit *
               (std::abs(node.value.high) + std::abs(best) +
                2 * (node.magnitude + std::abs(node.base.high)));
  return true;
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_DECODE_FIND_SWAP_INL_H_
