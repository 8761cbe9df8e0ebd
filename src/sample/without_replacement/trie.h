// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/random.h"
#include "sample/conditionals/conditionals.h"
#include "sample/conditionals/path_scratch.h"
#include "sample/without_replacement/vector_cache.h"

namespace taproot::detail {

/// The trees sampled so far, as a trie of heads in the order of Conditionals. Each node of the trie
/// knows the probability mass left under it (Shi et al. 2020). A sample descends by these masses,
/// and so never meets a tree twice. Masses left are sums over children, never differences, so that
/// they keep their relative accuracy however small they become.
///
/// The law of the next head at a node is computed on each visit, from rows or by contraction. From
/// the second visit on, what was computed is cached as far as memory allows.
template <typename T>
class Trie {
 public:
  /// Starts with an empty trie. `conditionals` must outlive this object and, if T is Wide, have its
  /// tables over Wide. The cache of rows and laws is kept small enough for the trie to take at most
  /// `memory_limit` bytes, unless its nodes alone take more.
  void build(const Conditionals& conditionals, std::size_t memory_limit);

  /// The mass of the trees that are not in the trie. It is 0 if and only if there are none.
  const T& left() const { return nodes_[0].left; }

  /// Samples a tree that is not in the trie, and inserts it. left() must not be 0. heads[m - 1] is
  /// the head of word m.
  void sample(Stream& stream, Scratch& scratch, std::int32_t* heads);

  /// Inserts a tree that is not in the trie yet.
  void insert(const std::int32_t* heads, Scratch& scratch);

  std::size_t bytes() const { return nodes_.size() * sizeof(Node) + cache_.bytes(); }

 private:
  struct Node {
    T left;  // The mass left under this node, given the heads up to here.
    T p;     // The probability of its head, given the heads before.
    std::int32_t head;
    std::int32_t child;    // The first child, or 0. The root, node 0, is never a child.
    std::int32_t sibling;  // The next child of the same parent, or 0.
    std::int32_t row;      // The cache slot of its row, or kNone.
    std::int32_t law;      // The cache slot of its law, or kNone.
    bool revisited;        // Whether it was visited before, so that caching pays.
    bool exact;            // Whether its law must come from contraction.
  };
  struct Step {
    std::int32_t node;
    std::int32_t i;      // The word that it decides, or 0 if it decides the root.
    std::int32_t child;  // The child that was chosen.
    double error;        // The error of its law if it came from rows, and 0 if not.
    T others;            // The mass left under its other children.
  };

  template <typename Pick>
  void visit(Scratch& scratch, Pick&& pick);
  void start(int sink, PathScratch& path);
  double find_law(Node& node, int i, PathScratch& path, T* p);
  void find_exact_law(Node& node, int i, PathScratch& path, T* p);
  void weigh(const Node& node, const T* p, T* mass);
  std::int32_t child_of(std::int32_t node, int head, const T& p);
  void settle(PathScratch& path, T* p, T* mass);
  std::size_t cache_limit() const;
  std::int32_t take_slot(const Node& node, int kind);

  const Conditionals* conditionals_ = nullptr;
  std::size_t memory_limit_ = 0;
  bool rows_hold_ = false;  // Whether rows are accurate enough so far on this visit.
  IndexedVector<Node> nodes_;
  std::vector<Step> steps_;
  VectorCache<T> cache_;
};

}  // namespace taproot::detail
