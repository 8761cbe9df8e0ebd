// SPDX-License-Identifier: Apache-2.0
#include "decode/exact_costs.h"

namespace taproot::detail {

void ExactCosts::start(const ContractedGraph& graph) {
  graph_ = &graph;
  known_.clear();
}

const TreeCost& ExactCosts::cost(std::int32_t node) {
  if (!knows(node)) find_cost(node);
  return costs_[node];
}

// The value of a node's best edge depends on the costs of the nodes within it. These are found
// first, with a stack in place of recursion, which could go n levels deep.
void ExactCosts::find_cost(std::int32_t node) {
  const auto& nodes = graph_->nodes;
  if (costs_.size() < nodes.size()) costs_.resize(nodes.size());
  known_.resize(nodes.size());
  pending_.assign(1, node);
  while (!pending_.empty()) {
    const std::int32_t at = pending_.back();
    const std::size_t before = pending_.size();
    for (std::int32_t c = nodes[at].edge.modifier; c != at; c = nodes[c].parent) {
      if (!knows(c)) pending_.push_back(c);
    }
    if (pending_.size() > before) continue;
    pending_.pop_back();
    if (knows(at)) continue;
    costs_[at] = {};
    add(nodes[at].edge, at, costs_[at]);
    known_[at] = 1;
  }
}

// Adds or subtracts the value of an edge into node `within`: its score less the costs of the nodes
// within it that contain the edge's modifier.
void ExactCosts::accumulate(Edge edge, std::int32_t within, int sign, TreeCost& sum) {
  sum.score.add(sign * graph_->edges.score(edge.head, edge.modifier));
  const std::uint64_t order = order_of(edge);
  sum.order += sign > 0 ? order : -order;
  for (std::int32_t c = edge.modifier; c != within; c = graph_->nodes[c].parent) {
    if (sign > 0) {
      sum.subtract(cost(c));
    } else {
      sum.add(cost(c));
    }
  }
}

int ExactCosts::compare(Edge a, Edge b, std::int32_t within) {
  TreeCost sum;
  add(a, within, sum);
  subtract(b, within, sum);
  return sum.sign();
}

TreeCost ExactCosts::loss(const Swap& swap) {
  TreeCost sum;
  add(swap.lost, swap.within, sum);
  subtract(swap.taken, swap.within, sum);
  return sum;
}

bool ExactCosts::loses_less(const Swap& a, const Swap& b) {
  if (a.loss + a.error < b.loss - b.error) return true;
  if (a.loss - a.error > b.loss + b.error) return false;
  TreeCost difference = loss(a);
  difference.subtract(loss(b));
  return difference.sign() < 0;
}

}  // namespace taproot::detail
