// SPDX-License-Identifier: Apache-2.0
#include "decode/swap_search.h"

#include <algorithm>

namespace taproot::detail {

void SwapSearch::start(const EdgeGraph& graph, const std::int32_t* best_tree) {
  heads = best_tree;
  best = {};
  others.resize(graph.ld);
  first_child_.assign(node_count(graph.n), 0);
  next_sibling_.assign(node_count(graph.n), 0);
  for (std::int32_t m = graph.n; m > 0; --m) {
    next_sibling_[m] = first_child_[heads[m]];
    first_child_[heads[m]] = m;
  }
  std::fill_n(enter.resize(graph.ld), graph.ld, -1.0);
  leave.resize(graph.ld);
  double clock = 0;
  enter[0] = 0;
  std::int32_t at = 0;
  for (;;) {
    const std::int32_t child = first_child_[at];
    if (child != 0) {
      first_child_[at] = next_sibling_[child];
      enter[child] = ++clock;
      at = child;
    } else {
      leave[at] = clock;
      if (at == 0) break;
      at = heads[at];
    }
  }
}

}  // namespace taproot::detail
