// SPDX-License-Identifier: Apache-2.0
#include "decode/contracted_graph.h"

namespace taproot::detail {

void ContractedGraph::start(const EdgeGraph& graph) {
  edges = graph;
  const std::size_t count = node_count(graph.n);
  nodes.resize(count);
  path.clear();
  modifiers.resize(count * graph.ld);
  inside.resize(count * graph.ld);
  next_word.assign(count, 0);
  up.resize(count);
  top.resize(count);
  cost_up.assign(count, {0, 0});
  for (std::int32_t m = 0; m <= graph.n; ++m) {
    up[m] = top[m] = m;
    Node& node = nodes[m];
    node = {};
    node.edge = {0, m};
    node.parent = node.row = node.root = node.first = node.last = m;
    node.size = 1;
  }
}

std::int32_t ContractedGraph::add_node() {
  const auto id = static_cast<std::int32_t>(nodes.size());
  nodes.emplace_back();
  nodes.back().parent = id;
  return id;
}

void ContractedGraph::expand(std::int32_t* heads) {
  for (auto id = static_cast<std::int32_t>(nodes.size()) - 1; id > 0; --id) {
    if (nodes[id].dissolved) continue;
    const Edge edge = nodes[id].edge;
    heads[edge.modifier] = edge.head;
    for (std::int32_t c = edge.modifier; c != id; c = nodes[c].parent) nodes[c].dissolved = true;
  }
}

}  // namespace taproot::detail
