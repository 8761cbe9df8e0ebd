// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "core/exact_sum.h"
#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot::detail {

/// A sentence as decoders want it: columns[m * ld + h] is the score of h -> m; -inf on the
/// diagonal, beyond n, and where an edge is forbidden. Row 0 is not read.
struct EdgeGraph {
  const double* columns;
  std::size_t ld;
  int n;
  RootRule root;
  /// Where scores are looked up if the columns are used up; see Edmonds::best().
  const ScoreView* view = nullptr;

  double score(std::int32_t head, std::int32_t modifier) const {
    if (view != nullptr) return (*view)(head, modifier);
    return columns[static_cast<std::size_t>(modifier) * ld + static_cast<std::size_t>(head)];
  }
};

/// The best tree by contraction (Chu and Liu 1965, Edmonds 1967) on a dense graph in O(n^2) (Tarjan
/// 1977): a path of best heads is grown until it meets ROOT or itself; in that case the cycle
/// becomes one node, whose edges count less what its words have cost so far.
///
/// Single-root: edges are compared by (number of ROOT edges, score), lexicographically. No cycle
/// has a ROOT edge, so that number never mixes with scores: a ROOT edge is taken where there is no
/// other, and once.
///
/// Exact: differences of scores are compared in double with a bound on their error, and within that
/// bound without any. Equal scores are told apart by a fixed pseudo-random number for each edge,
/// summed over the tree: so the best tree is unique, and so is the second best.
class Edmonds {
 public:
  /// A difference of trees: of their scores, without rounding, and of the numbers that decide where
  /// those are equal.
  struct Cost {
    ExactSum score;
    std::uint64_t order = 0;  // Modulo 2^64: what is compared in the end is far below 2^63.
  };

  /// The best tree's heads by word, [n+1]. False if there is none.
  bool best(const EdgeGraph& graph, std::int32_t* heads);

  /// The same for columns that may be overwritten, of the scores in graph.view: saves a copy.
  bool best_of(Buffer<double>& columns, const EdgeGraph& graph, std::int32_t* heads);

  /// Of the best tree of `graph`, which must be `heads`: the word without whose edge the best tree
  /// there is comes second, and by how much. False if there is no other tree. (Camerini, Fratta and
  /// Maffioli 1980.)
  bool next(const EdgeGraph& graph, const std::int32_t* heads, std::int32_t& modifier, Cost& loss);

  /// What a tree scores.
  static Cost total(const EdgeGraph& graph, const std::int32_t* heads);

  // What follows is for edmonds.cc, whose code is compiled once for each instruction set.

  struct Edge {
    std::int32_t head;
    std::int32_t modifier;
  };
  // Twice a double's precision: high + low.
  struct Pair {
    double high;
    double low;
  };
  // A word, or a contracted cycle, numbered from n+1 on; and its best in-edge.
  struct Node {
    Edge edge;
    Pair value;  // Of the edge, less what its word has cost so far.
    // Entries of the row are values plus `base`, and err by at most rounds 2^-52 (their own
    // magnitude and `magnitude`); not at all if rounds is 0.
    Pair base;
    double magnitude;
    double rounds;
    std::int32_t parent;
    std::int32_t row;
    std::int32_t root;  // Of the links between its words.
    std::int32_t size;
    std::int32_t first;  // Its words, as a list.
    std::int32_t last;
    bool on_path;
    bool done;
    bool dissolved;
    bool has_cost;
  };
  // A tree that has one edge less of the best and another instead: the difference is a loss.
  struct Swap {
    Edge lost{0, 0};
    Edge taken{0, 0};
    std::int32_t within = 0;
    double loss = 0;
    double error = 0;
  };

  static Pair sum(Pair a, Pair b) {
    const double high = a.high + b.high;
    const double of_b = high - a.high;
    const double rest = (a.high - (high - of_b)) + (b.high - of_b);
    const double low = rest + (a.low + b.low);
    const double rounded = high + low;
    return {rounded, low - (rounded - high)};
  }
  static Pair difference(Pair a, Pair b) { return sum(a, {-b.high, -b.low}); }
  void start(const EdgeGraph& graph);
  void copy_rows(const EdgeGraph& graph);
  bool run(std::int32_t* heads);
  std::int32_t add_node();
  /// The node that a word is part of now, and what it has cost so far. There are at most log n
  /// links from a word to its node's root, since smaller parts link to larger ones.
  Pair offset_of(std::int32_t word, std::int32_t& node) const {
    Pair offset{0, 0};
    auto at = static_cast<std::size_t>(word);
    while (static_cast<std::size_t>(up[at]) != at) {
      offset = sum(offset, cost_up[at]);
      at = static_cast<std::size_t>(up[at]);
    }
    node = top[at];
    return sum(offset, nodes[static_cast<std::size_t>(node)].base);
  }
  std::int32_t node_of(std::int32_t word) const {
    auto at = static_cast<std::size_t>(word);
    while (static_cast<std::size_t>(up[at]) != at) at = static_cast<std::size_t>(up[at]);
    return top[at];
  }
  const Cost& cost(std::int32_t node);
  void find_cost(std::int32_t node);
  void add(Edge edge, std::int32_t within, int sign, Cost& sum);
  int compare(Edge a, Edge b, std::int32_t within);
  bool loses_less(const Swap& a, const Swap& b);
  void expand(std::int32_t* heads);
  void number_subtrees(const std::int32_t* heads);

  EdgeGraph graph{};
  std::vector<Node> nodes;
  std::vector<Cost> costs;
  std::vector<std::int32_t> path;
  std::vector<std::int32_t> pending;
  Buffer<double> rows;       // [row][h]
  Buffer<double> modifiers;  // [row][h], the words that the edges of a contracted cycle lead to.
  Buffer<double> inside;     // [row][h], -inf for its own words, else 0.
  std::vector<std::int32_t> next_word;
  std::vector<std::int32_t> up;   // From a word towards the root of its node.
  std::vector<std::int32_t> top;  // The node of a root.
  std::vector<Pair> cost_up;      // What a word has cost more than the one above it.
  Buffer<double> enter;           // When a walk around the tree enters and leaves a word.
  Buffer<double> leave;
  Buffer<double> others;  // A row without some of its entries.
};

}  // namespace taproot::detail
