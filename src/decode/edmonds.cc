// SPDX-License-Identifier: Apache-2.0
#include "decode/edmonds.h"

#include <algorithm>
#include <utility>

#include "decode/contract.h"
#include "decode/contracted_graph.h"
#include "decode/exact_costs.h"
#include "decode/swap_search.h"

namespace taproot::detail {

struct Edmonds::State {
  ContractedGraph graph;
  ExactCosts exact;
  SwapSearch swaps;

  void copy_columns(const EdgeGraph& edges) {
    const std::size_t size = node_count(edges.n) * edges.ld;
    std::copy(edges.columns + edges.ld, edges.columns + size, graph.rows.resize(size) + edges.ld);
  }
  void start(const EdgeGraph& edges) {
    graph.start(edges);
    exact.start(graph);
  }
  bool find_best(std::int32_t* heads) {
    if (!contract(graph, exact, nullptr)) return false;
    graph.expand(heads);
    return true;
  }
};

Edmonds::Edmonds() : state_(std::make_unique<State>()) {}
Edmonds::~Edmonds() = default;
Edmonds::Edmonds(Edmonds&&) noexcept = default;
Edmonds& Edmonds::operator=(Edmonds&&) noexcept = default;

bool Edmonds::best(const EdgeGraph& graph, std::int32_t* heads) {
  state_->copy_columns(graph);
  state_->start(graph);
  return state_->find_best(heads);
}

bool Edmonds::best_of(Buffer<double>& columns, const EdgeGraph& graph, std::int32_t* heads) {
  std::swap(state_->graph.rows, columns);
  state_->start(graph);
  const bool found = state_->find_best(heads);
  std::swap(state_->graph.rows, columns);
  return found;
}

bool Edmonds::next(const EdgeGraph& graph, const std::int32_t* heads, std::int32_t& modifier,
                   Cost& loss) {
  state_->copy_columns(graph);
  state_->start(graph);
  state_->swaps.start(graph, heads);
  if (!contract(state_->graph, state_->exact, &state_->swaps)) return false;
  const Swap& swap = state_->swaps.best;
  if (swap.within == 0) return false;
  modifier = swap.lost.modifier;
  loss = state_->exact.loss(swap);
  return true;
}

Edmonds::Cost Edmonds::total(const EdgeGraph& graph, const std::int32_t* heads) {
  Cost sum;
  for (std::int32_t m = 1; m <= graph.n; ++m) {
    sum.score.add(graph.score(heads[m], m));
    sum.order += order_of({heads[m], m});
  }
  return sum;
}

}  // namespace taproot::detail
