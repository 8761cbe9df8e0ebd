// SPDX-License-Identifier: Apache-2.0
#include "testing/graph.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace taproot::oracle {
namespace {

constexpr double kMaxScore = 1e15;

// Nodes reachable from `sources` without entering `banned` (-1: none). ROOT has no incoming edges,
// so it is reached only as a source.
std::vector<bool> reach(const Problem& problem, const std::vector<int>& sources, int banned) {
  std::vector<bool> seen(static_cast<std::size_t>(problem.n) + 1, false);
  std::vector<int> stack;
  for (const int source : sources) {
    if (source == banned || seen[static_cast<std::size_t>(source)]) continue;
    seen[static_cast<std::size_t>(source)] = true;
    stack.push_back(source);
  }
  while (!stack.empty()) {
    const int head = stack.back();
    stack.pop_back();
    for (int m = 1; m <= problem.n; ++m) {
      if (m == banned || seen[static_cast<std::size_t>(m)] || !has_edge(problem, head, m)) continue;
      seen[static_cast<std::size_t>(m)] = true;
      stack.push_back(m);
    }
  }
  return seen;
}

bool reaches_every_word(const Problem& problem, int source) {
  const std::vector<bool> seen = reach(problem, {source}, -1);
  for (int m = 1; m <= problem.n; ++m) {
    if (!seen[static_cast<std::size_t>(m)]) return false;
  }
  return true;
}

}  // namespace

void check_problem(const Problem& problem, const char* where) {
  const std::string prefix = std::string("[") + where + "] ";
  if (problem.n < 1) throw std::invalid_argument(prefix + "n must be at least 1");
  const std::size_t side = static_cast<std::size_t>(problem.n) + 1;
  if (problem.scores.size() != side * side) {
    throw std::invalid_argument(prefix + "scores must have (n+1)^2 entries");
  }
  for (int h = 0; h <= problem.n; ++h) {
    for (int m = 1; m <= problem.n; ++m) {
      if (has_edge(problem, h, m) &&
          !(std::abs(problem.scores[cell(problem.n, h, m)]) <= kMaxScore)) {
        throw std::invalid_argument(prefix + "score of edge " + std::to_string(h) + " -> " +
                                    std::to_string(m) + " is NaN, +inf or beyond 1e15");
      }
    }
  }
}

bool has_edge(const Problem& problem, int head, int modifier) {
  return modifier != 0 && head != modifier &&
         problem.scores[cell(problem.n, head, modifier)] != -HUGE_VAL;
}

// An edge h -> m is in a tree iff h can be reached from the tree's top without passing m: a search
// from the top that avoids m, then the edge, then the rest of the search, spells out such a tree.
// The top is ROOT, or for single-root any word that has a ROOT edge and reaches every word.
std::vector<bool> possible_edges(const Problem& problem, Root root) {
  const int n = problem.n;
  std::vector<bool> possible(problem.scores.size(), false);
  std::vector<int> tops;
  if (root == Root::kMulti) {
    if (reaches_every_word(problem, 0)) tops.push_back(0);
  } else {
    for (int r = 1; r <= n; ++r) {
      if (has_edge(problem, 0, r) && reaches_every_word(problem, r)) tops.push_back(r);
    }
    for (const int r : tops) possible[cell(n, 0, r)] = true;
  }
  for (int m = 1; m <= n; ++m) {
    const std::vector<bool> seen = reach(problem, tops, m);
    for (int h = 0; h <= n; ++h) {
      if (seen[static_cast<std::size_t>(h)] && has_edge(problem, h, m))
        possible[cell(n, h, m)] = true;
    }
  }
  return possible;
}

}  // namespace taproot::oracle
