// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample/conditionals/conditionals.h"
#include "sample/conditionals/path_scratch.h"
#include "sample/without_replacement/vector_cache.h"

namespace taproot::detail {

/// The choices of a trie over all trees: the head of one word after another, in the order of
/// Conditionals; single-root, first the root. The law at a node of the trie is computed on each
/// visit, from rows or by contraction. From the second visit on, what was computed is cached as far
/// as memory allows. T is double or Wide; over Wide there are no rows.
template <typename T>
class HeadLaws {
 public:
  using Scalar = T;
  using Tables = Conditionals;

  void build(const Conditionals& conditionals);

  /// The length of a law, a multiple of 8, and the largest number of choices of a tree.
  std::size_t width() const { return conditionals_->ld(); }
  std::size_t most_choices() const { return node_count(conditionals_->n()); }

  /// The trie has one more node.
  void add_node() { kept_.push_back({cache_.kNone, cache_.kNone, false, false}); }

  /// Begins a path at the root of the trie. The cache may take `limit` bytes.
  void start(std::size_t limit, Scratch& scratch);
  bool complete() const { return i_ > conditionals_->n(); }
  /// The choice that the path has come to: a word, or 0 for the root.
  std::int32_t place() const { return i_; }

  /// Fills p with the law at a node, which is the one that the path has come to, and returns its
  /// error: 0 if it is exact. `left` is the mass left under the node.
  double find(std::int32_t node, const T& left, T* p);
  /// The exact law at a node of the path, at the place that it had.
  void find_exact(std::int32_t node, std::int32_t place, T* p);
  void decide(std::int32_t node, int choice);

  /// The tree of a complete path.
  void write_heads(std::int32_t* heads) const;
  /// A tree, and its choice where the path has come to.
  void read_heads(const std::int32_t* heads);
  int choice_read() const { return read_[i_]; }

  /// Frees memory until the cache takes at most `limit` bytes.
  void shrink(std::size_t limit);
  std::size_t bytes() const { return cache_.bytes(); }

 private:
  // What is known of a node of the trie.
  struct Kept {
    std::int32_t row;  // The cache slot of its row, or kNone.
    std::int32_t law;  // The cache slot of its law, or kNone.
    bool revisited;    // Whether it was visited before, so that caching pays.
    bool exact;        // Whether its law must come from contraction.
  };

  void start_at(int sink);
  std::int32_t take_slot(std::int32_t node, int kind);
  void evict(std::uint64_t owner);

  const Conditionals* conditionals_ = nullptr;
  PathScratch* path_ = nullptr;
  std::size_t limit_ = 0;
  std::int32_t i_ = 0;
  std::int32_t sink_ = 0;
  bool rows_hold_ = false;  // Whether rows are accurate enough so far on this path.
  IndexedVector<Kept> kept_;
  IndexedVector<std::int32_t> read_;
  VectorCache<T> cache_;

 public:
  static constexpr std::size_t kNodeBytes = sizeof(Kept);
};

}  // namespace taproot::detail
