// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "testing/graph.h"
#include "testing/oracle.h"
#include "testing/real.h"

namespace taproot::oracle {
namespace {

constexpr int kMaxWords = 6;
// All sums but the entropy's last difference are of positive terms; the digits leave that one
// correct down to the smallest double.
constexpr int kDigits = 450;

using Heads = std::vector<std::int32_t>;

bool is_tree(const Heads& heads, Root root) {
  const int n = static_cast<int>(heads.size());
  int root_edges = 0;
  for (int m = 1; m <= n; ++m) {
    if (heads[static_cast<std::size_t>(m - 1)] == 0) ++root_edges;
    int node = m;
    for (int steps = 0; node != 0; ++steps) {
      if (steps > n) return false;
      node = heads[static_cast<std::size_t>(node - 1)];
    }
  }
  return root == Root::kMulti || root_edges == 1;
}

// Calls visit(heads) for every tree, heads in lexicographic order.
template <typename Visit>
void extend(const Problem& problem, Root root, Heads& heads, Visit& visit) {
  const int m = static_cast<int>(heads.size()) + 1;
  if (m > problem.n) {
    if (is_tree(heads, root)) visit(heads);
    return;
  }
  for (int h = 0; h <= problem.n; ++h) {
    if (!has_edge(problem, h, m)) continue;
    heads.push_back(h);
    extend(problem, root, heads, visit);
    heads.pop_back();
  }
}

struct Forest {
  std::vector<Heads> trees;
  std::vector<Real> weights;  // one for each tree
  Real total = 0;
};

// Call inside a PrecisionScope.
Forest grow(const Problem& problem, Root root, const char* where) {
  check_problem(problem, where);
  const int n = problem.n;
  if (n > kMaxWords)
    throw std::invalid_argument(std::string("[") + where + "] n must be at most 6");
  std::vector<Real> weights(problem.scores.size(), Real(0));
  for (int h = 0; h <= n; ++h) {
    for (int m = 1; m <= n; ++m) {
      const std::size_t c = cell(n, h, m);
      if (has_edge(problem, h, m)) weights[c] = exp(Real(problem.scores[c]));
    }
  }
  Forest forest;
  const auto visit = [&](const Heads& heads) {
    Real weight = 1;
    for (int m = 1; m <= n; ++m) {
      weight *= weights[cell(n, heads[static_cast<std::size_t>(m - 1)], m)];
    }
    forest.trees.push_back(heads);
    forest.total += weight;
    forest.weights.push_back(std::move(weight));
  };
  Heads heads;
  extend(problem, root, heads, visit);
  return forest;
}

}  // namespace

Answer enumerate(const Problem& problem, Root root) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const PrecisionScope scope(kDigits);
  const Forest forest = grow(problem, root, "enumerate");
  if (forest.trees.empty()) return {false, kNaN, kNaN, {}, kNaN};

  const int n = problem.n;
  Real log_total = log(forest.total);
  std::vector<Real> marginals(problem.scores.size(), Real(0));
  Real entropy = 0;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const Real probability = forest.weights[t] / forest.total;
    Real score = 0;
    for (int m = 1; m <= n; ++m) {
      const std::size_t c = cell(n, forest.trees[t][static_cast<std::size_t>(m - 1)], m);
      marginals[c] += probability;
      score += Real(problem.scores[c]);
    }
    // The sum of a lone tree's scores may lie halfway between two doubles; log(exp()) blurs that.
    if (forest.trees.size() == 1) log_total = score;
    entropy += probability * (log_total - score);
  }
  Answer answer{true, log_total.convert_to<double>(), entropy.convert_to<double>(), {}, kNaN};
  for (const Real& marginal : marginals) answer.marginals.push_back(marginal.convert_to<double>());
  return answer;
}

std::vector<std::pair<Heads, double>> all_trees(const Problem& problem, Root root) {
  const PrecisionScope scope(kDigits);
  const Forest forest = grow(problem, root, "all_trees");
  std::vector<std::pair<Heads, double>> trees;
  trees.reserve(forest.trees.size());
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    trees.emplace_back(forest.trees[t],
                       Real(forest.weights[t] / forest.total).convert_to<double>());
  }
  return trees;
}

}  // namespace taproot::oracle
