// SPDX-License-Identifier: Apache-2.0
#include "testing/arborescence.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "testing/graph.h"

namespace taproot::oracle {
namespace {

constexpr int kForbidden = std::numeric_limits<int>::min();

struct Weight {
  int root_edges = kForbidden;  // minus their number; kForbidden: there is no such edge
  double score = 0.0;

  bool forbidden() const { return root_edges == kForbidden; }
  bool operator>(const Weight& other) const {
    return root_edges != other.root_edges ? root_edges > other.root_edges : score > other.score;
  }
};

// Both must be edges.
Weight operator-(const Weight& a, const Weight& b) {
  return {a.root_edges - b.root_edges, a.score - b.score};
}

// A dense graph contracted in place: a contracted cycle takes over the row and the column of its
// first node, the others leave `nodes`.
class Contraction {
 public:
  Contraction(const Problem& problem, Root root)
      : size_(static_cast<std::size_t>(problem.n) + 1), weights_(size_ * size_), heads_(size_, 0) {
    for (int h = 0; h <= problem.n; ++h) {
      for (int m = 1; m <= problem.n; ++m) {
        const std::size_t c = cell(problem.n, h, m);
        if (!has_edge(problem, h, m)) continue;
        weights_[c] = {root == Root::kSingle && h == 0 ? -1 : 0, problem.scores[c]};
      }
    }
    for (std::size_t v = 0; v < size_; ++v) nodes_.push_back(v);
  }

  // Fills heads() for the present nodes; false if there is no tree.
  bool solve() {
    if (!choose_best_heads()) return false;
    const std::vector<std::size_t> cycle = find_cycle();
    if (cycle.empty()) return true;

    const std::size_t whole = cycle.front();
    std::vector<std::size_t> cycle_heads;
    std::vector<bool> in_cycle(size_, false);
    for (const std::size_t v : cycle) {
      cycle_heads.push_back(heads_[v]);
      in_cycle[v] = true;
    }
    std::vector<std::size_t> rest;
    for (const std::size_t v : nodes_) {
      if (!in_cycle[v]) rest.push_back(v);
    }

    // For each node outside: the word of the cycle that it would be the head of, or that would be
    // its head.
    std::vector<std::size_t> entry(size_, whole);
    std::vector<std::size_t> exit(size_, whole);
    std::vector<Weight> broken;  // what each word of the cycle gives up if entered
    for (const std::size_t v : cycle) broken.push_back(weight(heads_[v], v));
    for (const std::size_t v : rest) {
      Weight into;
      Weight out;
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        const std::size_t c = cycle[i];
        if (!weight(v, c).forbidden()) {
          const Weight gain = weight(v, c) - broken[i];
          if (gain > into) {
            into = gain;
            entry[v] = c;
          }
        }
        if (weight(c, v) > out) {
          out = weight(c, v);
          exit[v] = c;
        }
      }
      weight(v, whole) = into;
      weight(whole, v) = out;
    }
    weight(whole, whole) = Weight();

    nodes_ = rest;
    nodes_.push_back(whole);
    if (!solve()) return false;

    const std::size_t outside = heads_[whole];
    for (const std::size_t v : rest) {
      if (v != 0 && heads_[v] == whole) heads_[v] = exit[v];
    }
    for (std::size_t i = 0; i < cycle.size(); ++i) heads_[cycle[i]] = cycle_heads[i];
    heads_[entry[outside]] = outside;
    return true;
  }

  const std::vector<std::size_t>& heads() const { return heads_; }

 private:
  Weight& weight(std::size_t head, std::size_t modifier) {
    return weights_[head * size_ + modifier];
  }

  bool choose_best_heads() {
    std::vector<Weight> best(size_);
    for (const std::size_t h : nodes_) {
      for (const std::size_t m : nodes_) {
        if (weight(h, m) > best[m]) {
          best[m] = weight(h, m);
          heads_[m] = h;
        }
      }
    }
    return std::none_of(nodes_.begin(), nodes_.end(),
                        [&](std::size_t v) { return v != 0 && best[v].forbidden(); });
  }

  // A cycle of the chosen heads, empty if they form a tree.
  std::vector<std::size_t> find_cycle() const {
    constexpr std::size_t kUnseen = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> seen_from(size_, kUnseen);
    seen_from[0] = 0;
    for (const std::size_t start : nodes_) {
      if (seen_from[start] != kUnseen) continue;
      std::size_t v = start;
      for (; seen_from[v] == kUnseen; v = heads_[v]) seen_from[v] = start;
      if (seen_from[v] != start) continue;
      std::vector<std::size_t> cycle;
      for (std::size_t u = v; cycle.empty() || u != v; u = heads_[u]) cycle.push_back(u);
      return cycle;
    }
    return {};
  }

  std::size_t size_;
  std::vector<Weight> weights_;     // [head][modifier]
  std::vector<std::size_t> heads_;  // of the present nodes; ROOT's means nothing
  std::vector<std::size_t> nodes_;  // those present, ROOT first
};

double score_of(const Problem& problem, const std::vector<std::int32_t>& heads) {
  double score = 0.0;
  for (int m = 1; m <= problem.n; ++m) {
    score += problem.scores[cell(problem.n, heads[static_cast<std::size_t>(m - 1)], m)];
  }
  return score;
}

}  // namespace

BestTree best_tree(const Problem& problem, Root root) {
  check_problem(problem, "best_tree");
  const BestTree none{false, {}, std::numeric_limits<double>::quiet_NaN()};
  Contraction contraction(problem, root);
  if (!contraction.solve()) return none;

  std::vector<std::int32_t> heads;
  for (std::size_t m = 1; m < contraction.heads().size(); ++m) {
    heads.push_back(static_cast<std::int32_t>(contraction.heads()[m]));
  }
  if (root == Root::kSingle && std::count(heads.begin(), heads.end(), 0) > 1) return none;
  const double score = score_of(problem, heads);
  return {true, std::move(heads), score};
}

std::vector<std::pair<double, std::vector<std::int32_t>>> ranked_trees(const Problem& problem,
                                                                       Root root) {
  std::vector<std::pair<double, std::vector<std::int32_t>>> trees;
  for (auto& [heads, probability] : all_trees(problem, root)) {
    const double score = score_of(problem, heads);
    trees.emplace_back(score, std::move(heads));
  }
  // Already in order of the heads.
  std::stable_sort(trees.begin(), trees.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  return trees;
}

}  // namespace taproot::oracle
