// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/random.h"
#include "sample/conditionals/conditionals.h"
#include "sample/conditionals/path_scratch.h"
#include "sample/without_replacement/vector_cache.h"

namespace taproot::detail {

/// The trees drawn so far as a trie of heads, node by node of Conditionals, each of its nodes with
/// the probability mass that is left under it (Shi et al. 2020): a draw descends by the masses
/// left, and so never meets a tree twice. Masses left are sums over children, never differences:
/// what is left of 1e-14, or of 1e-200, is known to as many digits as what was there.
///
/// The law of a node's head is computed, by rows or contracted, on the first visit, and kept from
/// the second on as far as the memory allows.
template <typename T>
class Trie {
 public:
  /// Empty. `conditionals` is read later on; for Wide its tables must be wide. Rows and laws are
  /// thrown away rather than take more than `memory_limit` bytes (the nodes themselves stay).
  void build(const Conditionals& conditionals, std::size_t memory_limit);

  /// Mass of the trees that are not in it: 0 if and only if there is none.
  const T& left() const { return nodes_[0].left; }

  /// Draws a tree that is not in it and puts it in. left() must not be 0. By word, as everywhere.
  void sample(Stream& stream, Scratch& scratch, std::int32_t* heads);

  /// Puts a tree in that is not there yet.
  void insert(const std::int32_t* heads, Scratch& scratch);

  std::size_t bytes() const { return nodes_.size() * sizeof(Node) + cache_.bytes(); }

 private:
  struct Node {
    T left;  // Given the heads up to here.
    T p;     // Of its head, given the parent's.
    std::int32_t head;
    std::int32_t child;  // The first of those there are; 0 if none: the root is nobody's child.
    std::int32_t sibling;
    std::int32_t row;  // Slots of the cache.
    std::int32_t law;
    bool revisited;
    bool exact;  // Its law must be the contracted one.
  };
  struct Step {
    std::int32_t node;
    std::int32_t i;  // The word that it decides; 0 for the root's choice.
    std::int32_t child;
    double error;  // Of its law, if that came from rows; else 0.
    T others;      // Mass left under its other children.
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
  bool rows_hold_ = false;  // On the path of the visit.
  std::vector<Node> nodes_;
  std::vector<Step> steps_;
  VectorCache<T> cache_;
};

}  // namespace taproot::detail
