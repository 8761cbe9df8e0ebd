// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/buffer.h"
#include "decode/edge_graph.h"

namespace taproot::detail {

/// A number with twice the precision of a double, as the unevaluated sum high + low.
struct DoubleDouble {
  double high;
  double low;
};

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const double high = a.high + b.high;
  const double of_b = high - a.high;
  const double rest = (a.high - (high - of_b)) + (b.high - of_b);
  const double low = rest + (a.low + b.low);
  const double rounded = high + low;
  return {rounded, low - (rounded - high)};
}
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) {
  return a + DoubleDouble{-b.high, -b.low};
}

/// A graph whose cycles are being contracted, as Edmonds' algorithm does. A node is a word, or a
/// contracted cycle of nodes, numbered from n+1 on. The value of an edge into a node is its score
/// less the cost of its word so far, which is the sum of the values of the best edges into the
/// nodes that contain the word and have been contracted into this one.
struct ContractedGraph {
  struct Node {
    Edge edge;           ///< The best edge into the node.
    DoubleDouble value;  ///< The value of that edge.
    /// Entries of the node's row are values plus `base`. Their error is at most rounds 2^-52
    /// (|entry| + magnitude), so they are exact if rounds is 0.
    DoubleDouble base;
    double magnitude;
    double rounds;
    std::int32_t parent;  ///< The cycle that the node is part of, or itself.
    std::int32_t row;     ///< The row that holds its entries.
    std::int32_t root;    ///< The word at which the links of its words end.
    std::int32_t size;    ///< The number of its words.
    std::int32_t first;   ///< Its first word; next_word leads to the others.
    std::int32_t last;    ///< Its last word.
    bool on_path;
    bool done;       ///< Whether its best edges lead to ROOT.
    bool dissolved;  ///< Whether an outer cycle's edge replaces its edge.
  };

  /// Starts with n words and no cycles. `rows` must hold the columns of the graph.
  void start(const EdgeGraph& edges);

  std::int32_t add_node();

  /// The outermost node that a word is part of. It takes at most log2(n) links, because the links
  /// of a smaller part always lead to a larger one.
  std::int32_t node_of(std::int32_t word) const {
    while (up[word] != word) word = up[word];
    return top[word];
  }
  /// The cost of a word so far, which is subtracted from the scores of edges into it.
  DoubleDouble cost_of(std::int32_t word) const {
    DoubleDouble cost{0, 0};
    for (; up[word] != word; word = up[word]) cost = cost + cost_up[word];
    return cost + nodes[top[word]].base;
  }

  /// Writes the heads of the best tree, by word, once every node has its best edge. The edge into a
  /// cycle replaces the edges of those parts of the cycle that contain its modifier.
  void expand(std::int32_t* heads);

  EdgeGraph edges{};
  IndexedVector<Node> nodes;
  std::vector<std::int32_t> path;  ///< The nodes on the path of best edges that is being grown.
  Buffer<double> rows;             ///< [row][h]: the entry of the best edge from h into the node.
  Buffer<double> modifiers;        ///< [row][h]: the word that this edge leads to, for cycles.
  Buffer<double> inside;           ///< [row][h]: -inf if h is part of the node, else 0, for cycles.
  IndexedVector<std::int32_t> next_word;
  IndexedVector<std::int32_t> up;       ///< From a word toward the root of its node.
  IndexedVector<std::int32_t> top;      ///< The outermost node of a root.
  IndexedVector<DoubleDouble> cost_up;  ///< The cost of a word less the cost of the word above it.
};

}  // namespace taproot::detail
