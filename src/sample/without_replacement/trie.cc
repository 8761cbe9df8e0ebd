// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/trie.h"

#include <algorithm>

#include "core/check.h"
#include "core/format.h"
#include "sample/conditionals/choose.h"
#include "sample/sample_scratch.h"
#include "sample/without_replacement/chart_laws.h"
#include "sample/without_replacement/head_laws.h"

namespace taproot::detail {

template <typename Laws>
void Trie<Laws>::build(const typename Laws::Tables& tables, std::size_t memory_limit) {
  memory_limit_ = memory_limit;
  nodes_.clear();
  if (nodes_.capacity() * sizeof(Node) > memory_limit / 2) nodes_.shrink_to_fit();
  laws_.build(tables);
  nodes_.push_back({T(1), T(1), 0, 0, 0});
  laws_.add_node();
}

template <typename Laws>
void Trie<Laws>::sample(Stream& stream, Scratch& scratch, std::int32_t* heads) {
  const std::size_t width = laws_.width();
  visit(scratch, [&](const T* mass) { return choose(mass, width, sum_of(mass, width), stream); });
  laws_.write_heads(heads);
}

template <typename Laws>
void Trie<Laws>::insert(const std::int32_t* heads, Scratch& scratch) {
  laws_.read_heads(heads);
  visit(scratch, [&](const T*) { return laws_.choice_read(); });
}

// Computes the mass left under each child of a node whose law is p.
template <typename Laws>
void Trie<Laws>::weigh(const Node& node, const T* p, T* mass) {
  std::copy_n(p, laws_.width(), mass);
  for (std::int32_t c = node.child; c != 0; c = nodes_[c].sibling) {
    Node& child = nodes_[c];
    child.p = p[child.choice];
    mass[child.choice] = child.p * child.left;
  }
}

template <typename Laws>
std::int32_t Trie<Laws>::child_of(std::int32_t node, int choice, const T& p) {
  Node& parent = nodes_[node];
  for (std::int32_t c = parent.child; c != 0; c = nodes_[c].sibling) {
    if (nodes_[c].choice == choice) return c;
  }
  const auto child = static_cast<std::int32_t>(nodes_.size());
  const std::int32_t sibling = parent.child;
  parent.child = child;
  nodes_.push_back({T(1), p, choice, 0, sibling});
  laws_.add_node();
  return child;
}

// Descends from the root to a leaf, whose tree it inserts. pick(mass) makes the next choice, where
// mass[x] is left under choice x.
template <typename Laws>
template <typename Pick>
void Trie<Laws>::visit(Scratch& scratch, Pick&& pick) {
  const std::size_t most = laws_.most_choices() + 1;  // So many nodes may be added.
  const std::size_t width = laws_.width();
  require(nodes_.size() + most <= std::size_t{1} << 31, "sample_without_replacement",
          "a trie has at most 2^31 nodes");
  // Reserve first, because references to nodes are held while others are added.
  if (nodes_.capacity() < nodes_.size() + most) {
    nodes_.reserve(std::max(2 * nodes_.capacity(), nodes_.size() + most));
  }
  const auto cache_limit = [&] {
    return memory_limit_ > node_bytes() ? memory_limit_ - node_bytes() : 0;
  };
  T* p = scratch.get<SampleScratch>().path.law<T>().resize(2 * width);
  T* mass = p + width;
  steps_.clear();
  std::int32_t at = 0;
  for (laws_.start(cache_limit(), scratch); !laws_.complete();) {
    const Node& node = nodes_[at];
    const std::int32_t place = laws_.place();
    double error = laws_.find(at, node.left, p);
    weigh(node, p, mass);
    int choice = pick(mass);
    if (error > 0 && !(T(error) < p[choice])) {  // It may be impossible, which an error can hide.
      laws_.find_exact(at, place, p);
      error = 0;
      weigh(node, p, mass);
      choice = pick(mass);
    }
    mass[choice] = T(0);
    const std::int32_t child = child_of(at, choice, p[choice]);
    steps_.push_back({at, place, child, error, sum_of(mass, width)});
    laws_.decide(at, choice);
    at = child;
  }
  nodes_[at].left = T(0);
  settle(p, mass);
  laws_.shrink(cache_limit());
}

// Updates the masses left, from the leaf up. Where so little is left that the error of a law
// counts, the exact law is found.
template <typename Laws>
void Trie<Laws>::settle(T* p, T* mass) {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    Node& node = nodes_[step->node];
    const Node& child = nodes_[step->child];
    node.left = step->others + child.p * child.left;
    if (step->error > 0 && !(T(step->error) < T(kTrieError) * node.left)) {
      laws_.find_exact(step->node, step->place, p);
      weigh(node, p, mass);
      node.left = sum_of(mass, laws_.width());
    }
  }
}

template class Trie<HeadLaws<double>>;
template class Trie<HeadLaws<Wide>>;
template class Trie<ChartLaws<double>>;
template class Trie<ChartLaws<Wide>>;

}  // namespace taproot::detail
