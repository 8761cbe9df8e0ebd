// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/trie.h"
#include "core/format.h"

#include <algorithm>
#include <type_traits>

#include "core/check.h"
#include "sample/conditionals/choose.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {
namespace {

// For sentences of up to this length contraction is used throughout, because it costs about as
// much as rows and has no error to watch.
constexpr int kAlwaysContracted = 8;

}  // namespace

template <typename T>
void Trie<T>::build(const Conditionals& conditionals, std::size_t memory_limit) {
  conditionals_ = &conditionals;
  memory_limit_ = memory_limit;
  nodes_.clear();
  if (nodes_.capacity() * sizeof(Node) > memory_limit / 2) nodes_.shrink_to_fit();
  nodes_.push_back({T(1), T(1), 0, 0, 0, cache_.kNone, cache_.kNone, false, false});
  cache_.reset(conditionals.ld());
}

template <typename T>
void Trie<T>::sample(Stream& stream, Scratch& scratch, std::int32_t* heads) {
  const std::size_t ld = conditionals_->ld();
  visit(scratch, [&](int, const T* mass) { return choose(mass, ld, sum_of(mass, ld), stream); });
  conditionals_->to_words(scratch.get<SampleScratch>().path.heads.data(), heads);
}

template <typename T>
void Trie<T>::insert(const std::int32_t* heads, Scratch& scratch) {
  IndexedVector<std::int32_t> node_heads(node_count(conditionals_->n()));
  conditionals_->to_nodes(heads, node_heads.data());
  // visit() asks for the root at index 0.
  const auto root = std::find(node_heads.begin() + 1, node_heads.end(), 0) - node_heads.begin();
  node_heads[0] = static_cast<std::int32_t>(root);
  visit(scratch, [&](int i, const T*) { return node_heads[i]; });
}

template <typename T>
void Trie<T>::start(int sink, PathScratch& path) {
  path.contraction<T>().start(*conditionals_, sink);
  rows_hold_ = false;
  if constexpr (std::is_same_v<T, double>) {
    rows_hold_ = conditionals_->n() > kAlwaysContracted &&
                 row_error(conditionals_->visits(sink), 1) <= kTrieError;
    if (rows_hold_) path.rows.start(*conditionals_, sink);
  }
}

template <typename T>
std::size_t Trie<T>::cache_limit() const {
  const std::size_t used = nodes_.size() * sizeof(Node);
  return memory_limit_ > used ? memory_limit_ - used : 0;
}

template <typename T>
std::int32_t Trie<T>::take_slot(const Node& node, int kind) {
  const auto owner =
      static_cast<std::uint64_t>(&node - nodes_.data()) * 2 + static_cast<std::uint64_t>(kind);
  return cache_.take(owner, cache_limit(), [&](std::uint64_t other) {
    Node& evicted = nodes_[other / 2];
    (other % 2 == 0 ? evicted.row : evicted.law) = cache_.kNone;
  });
}

// Finds the law of word i's head at a node, given the heads on the path. Returns its error.
template <typename T>
double Trie<T>::find_law(Node& node, int i, PathScratch& path, T* p) {
  if constexpr (std::is_same_v<T, double>) {
    if (rows_hold_) {
      const std::size_t ld = conditionals_->ld();
      if (node.row != cache_.kNone) {
        std::copy_n(cache_.data(node.row), ld, path.rows.row(i));
      } else {
        path.rows.compute(i);
        if (node.revisited) node.row = take_slot(node, 0);
        if (node.row != cache_.kNone) std::copy_n(path.rows.row(i), ld, cache_.data(node.row));
      }
      path.rows.probabilities(i, p);
      const double error = path.rows.error();
      rows_hold_ = error <= kTrieError;
      if (rows_hold_ && !node.exact && error <= kTrieError * node.left) return error;
    }
  }
  find_exact_law(node, i, path, p);
  return 0;
}

template <typename T>
void Trie<T>::find_exact_law(Node& node, int i, PathScratch& path, T* p) {
  const std::size_t ld = conditionals_->ld();
  if (node.law != cache_.kNone) {
    std::copy_n(cache_.data(node.law), ld, p);
    return;
  }
  path.contraction<T>().probabilities(i, path.heads.data(), p);
  node.exact = true;
  if (node.revisited) node.law = take_slot(node, 1);
  if (node.law != cache_.kNone) std::copy_n(p, ld, cache_.data(node.law));
}

// Computes the mass left under each child of a node whose law is p.
template <typename T>
void Trie<T>::weigh(const Node& node, const T* p, T* mass) {
  std::copy_n(p, conditionals_->ld(), mass);
  for (std::int32_t c = node.child; c != 0; c = nodes_[c].sibling) {
    Node& child = nodes_[c];
    child.p = p[child.head];
    mass[child.head] = child.p * child.left;
  }
}

template <typename T>
std::int32_t Trie<T>::child_of(std::int32_t node, int head, const T& p) {
  Node& parent = nodes_[node];
  for (std::int32_t c = parent.child; c != 0; c = nodes_[c].sibling) {
    if (nodes_[c].head == head) return c;
  }
  const auto child = static_cast<std::int32_t>(nodes_.size());
  const std::int32_t sibling = parent.child;
  parent.child = child;
  nodes_.push_back({T(1), p, head, 0, sibling, cache_.kNone, cache_.kNone, false, false});
  return child;
}

// Descends from the root to a leaf, whose tree it inserts. pick(i, mass) chooses the head of word i
// (i = 0: the root) where mass[h] is left under head h.
template <typename T>
template <typename Pick>
void Trie<T>::visit(Scratch& scratch, Pick&& pick) {
  const Conditionals& c = *conditionals_;
  const std::size_t most = node_count(c.n());  // So many nodes may be added.
  const std::size_t ld = c.ld();
  require(nodes_.size() + most <= std::size_t{1} << 31, "sample_without_replacement",
          "a trie has at most 2^31 nodes");
  // Reserve first, because references to nodes are held while others are added.
  if (nodes_.capacity() < nodes_.size() + most) {
    nodes_.reserve(std::max(2 * nodes_.capacity(), nodes_.size() + most));
  }
  PathScratch& path = scratch.get<SampleScratch>().path;
  std::int32_t* heads = path.heads.resize(most);
  T* p = path.law<T>().resize(2 * ld);
  T* mass = p + ld;
  steps_.clear();
  std::int32_t at = 0;
  int sink = 0;
  if (c.single()) {
    std::copy_n(c.roots<T>(), ld, p);
  } else {
    start(0, path);
  }
  for (int i = c.single() ? 0 : 1; i <= c.n(); ++i) {
    if (i > 0 && i == sink) continue;
    Node& node = nodes_[at];
    double error = i == 0 ? 0 : find_law(node, i, path, p);
    weigh(node, p, mass);
    int head = pick(i, mass);
    if (error > 0 && !(T(error) < p[head])) {  // It may be impossible, which rows cannot tell.
      find_exact_law(node, i, path, p);
      error = 0;
      weigh(node, p, mass);
      head = pick(i, mass);
    }
    mass[head] = T(0);
    node.revisited = true;
    const std::int32_t child = child_of(at, head, p[head]);
    steps_.push_back({at, i, child, error, sum_of(mass, ld)});
    at = child;
    if (i == 0) {
      sink = head;
      heads[sink] = 0;
      start(sink, path);
    } else {
      heads[i] = head;
      if (rows_hold_) path.rows.decide(i, head);
    }
  }
  nodes_[at].left = T(0);
  settle(path, p, mass);
  cache_.shrink(cache_limit(), [&](std::uint64_t owner) {
    Node& evicted = nodes_[owner / 2];
    (owner % 2 == 0 ? evicted.row : evicted.law) = cache_.kNone;
  });
}

// Updates the masses left, from the leaf up. Where so little is left that the error of rows counts,
// the law is found again by contraction.
template <typename T>
void Trie<T>::settle(PathScratch& path, T* p, T* mass) {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    Node& node = nodes_[step->node];
    const Node& child = nodes_[step->child];
    node.left = step->others + child.p * child.left;
    if (step->error > 0 && !(T(step->error) < T(kTrieError) * node.left)) {
      find_exact_law(node, step->i, path, p);
      weigh(node, p, mass);
      node.left = sum_of(mass, conditionals_->ld());
    }
  }
}

template class Trie<double>;
template class Trie<Wide>;

}  // namespace taproot::detail
