// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/matrix_view.h"
#include "core/random.h"
#include "core/scratch.h"

namespace taproot::detail {

/// The trees sampled so far, as a trie of the choices that make a tree. Each node of the trie knows
/// the probability mass left under it (Shi et al. 2020). A sample descends by these masses, and so
/// never meets a tree twice. Masses left are sums over children, never differences, so that they
/// keep their relative accuracy however small they become.
///
/// Laws says which choices there are, one after the other, and the law of each given those before:
/// head_laws.h for all trees, where a choice is a word's head, chart_laws.h for projective trees,
/// where it is a split of a span. Its Scalar is double or Wide.
template <typename Laws>
class Trie {
 public:
  using T = typename Laws::Scalar;

  /// Starts with an empty trie. `tables` must outlive this object and, if T is Wide, have its
  /// tables over Wide. What the laws cache is kept small enough for the trie to take at most
  /// `memory_limit` bytes, unless its nodes alone take more.
  void build(const typename Laws::Tables& tables, std::size_t memory_limit);

  /// The mass of the trees that are not in the trie. It is 0 if and only if there are none.
  const T& left() const { return nodes_[0].left; }

  /// Samples a tree that is not in the trie, and inserts it. left() must not be 0. heads[m - 1] is
  /// the head of word m.
  void sample(Stream& stream, Scratch& scratch, std::int32_t* heads);

  /// Inserts a tree that is not in the trie yet.
  void insert(const std::int32_t* heads, Scratch& scratch);

  std::size_t bytes() const { return node_bytes() + laws_.bytes(); }

 private:
  struct Node {
    T left;  // The mass left under this node, given the choices up to here.
    T p;     // The probability of its choice, given the choices before.
    std::int32_t choice;
    std::int32_t child;    // The first child, or 0. The root, node 0, is never a child.
    std::int32_t sibling;  // The next child of the same parent, or 0.
  };
  struct Step {
    std::int32_t node;
    std::int32_t place;  // Laws::place().
    std::int32_t child;  // The child that was chosen.
    double error;        // The error of its law, or 0 if it is exact.
    T others;            // The mass left under its other children.
  };

  template <typename Pick>
  void visit(Scratch& scratch, Pick&& pick);
  void weigh(const Node& node, const T* p, T* mass);
  std::int32_t child_of(std::int32_t node, int choice, const T& p);
  void settle(T* p, T* mass);
  std::size_t node_bytes() const { return nodes_.size() * (sizeof(Node) + Laws::kNodeBytes); }

  std::size_t memory_limit_ = 0;
  Laws laws_;
  IndexedVector<Node> nodes_;
  std::vector<Step> steps_;
};

}  // namespace taproot::detail
