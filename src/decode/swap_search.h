// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "decode/edge_graph.h"

namespace taproot::detail {

/// A change of the best tree in one place. Both edges enter one node of the contracted graph, which
/// is a word or a cycle; edges into a cycle may enter different words of it.
struct Swap {
  Edge lost{0, 0};
  Edge taken{0, 0};
  std::int32_t within = 0;  ///< The node that both edges lead into; 0 if there is no swap.
  double loss = 0;          ///< The value of `lost` less that of `taken`.
  double error = 0;         ///< A bound on the error of `loss`.
};

/// The search for the best swap, while the graph is contracted: it makes the second-best tree.
struct SwapSearch {
  /// Starts the search, given the heads of the best tree by word, [n+1].
  void start(const EdgeGraph& graph, const std::int32_t* best_tree);

  const std::int32_t* heads = nullptr;
  Swap best;
  /// A depth-first walk numbers the nodes of the best tree, [ld]. The nodes below m are those whose
  /// number is in enter[m] .. leave[m].
  Buffer<double> enter;
  Buffer<double> leave;
  Buffer<double> others;  ///< [ld]: a row of which some entries are excluded.

 private:
  IndexedVector<std::int32_t> first_child_;
  IndexedVector<std::int32_t> next_sibling_;
};

}  // namespace taproot::detail
