// SPDX-License-Identifier: Apache-2.0
#include "taproot/tree.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.h"

namespace taproot {
namespace {

bool in_range(TreeView heads) {
  const auto n = static_cast<std::int64_t>(heads.size());
  return std::all_of(heads.begin(), heads.end(),
                     [n](std::int32_t head) { return head >= 0 && head <= n; });
}

}  // namespace

bool is_tree(TreeView heads) {
  if (heads.empty() || !in_range(heads)) return false;
  // Each word is visited once: a walk stops at ROOT or at a word known to lead there. A walk that
  // meets itself goes round in a cycle.
  const std::size_t n = heads.size();
  constexpr std::int32_t kLeadsToRoot = -1;
  std::vector<std::int32_t> walk(n + 1, 0);  // The walk that reached a word, or kLeadsToRoot.
  walk[0] = kLeadsToRoot;
  for (std::size_t start = 1; start <= n; ++start) {
    const auto mark = static_cast<std::int32_t>(start);
    std::size_t node = start;
    while (walk[node] == 0) {
      walk[node] = mark;
      node = static_cast<std::size_t>(heads[node - 1]);
    }
    if (walk[node] == mark) return false;
    for (node = start; walk[node] == mark;) {
      walk[node] = kLeadsToRoot;
      node = static_cast<std::size_t>(heads[node - 1]);
    }
  }
  return true;
}

int root_count(TreeView heads) {
  return static_cast<int>(std::count(heads.begin(), heads.end(), 0));
}

bool is_tree(TreeView heads, RootRule root) {
  return is_tree(heads) && (root == RootRule::kMulti || root_count(heads) == 1);
}

double score(const ScoreView& scores, TreeView heads) {
  detail::require(heads.size() == static_cast<std::size_t>(scores.n()), "score",
                  "heads must have n entries");
  detail::require(in_range(heads), "score", "a head is outside 0..n");
  double sum = 0;
  for (int m = 1; m <= scores.n(); ++m) {
    const int head = heads[static_cast<std::size_t>(m) - 1];
    if (head == m) return -HUGE_VAL;  // The diagonal holds no edges, whatever it holds.
    sum += scores(head, m);
  }
  return sum;
}

void to_adjacency(TreeView heads, std::span<std::uint8_t> adjacency) {
  const std::size_t side = heads.size() + 1;
  detail::require(adjacency.size() == side * side, "to_adjacency",
                  "adjacency must have (n+1)^2 entries");
  detail::require(in_range(heads), "to_adjacency", "a head is outside 0..n");
  std::fill(adjacency.begin(), adjacency.end(), std::uint8_t{0});
  for (std::size_t m = 1; m < side; ++m) {
    adjacency[static_cast<std::size_t>(heads[m - 1]) * side + m] = 1;
  }
}

Tree from_adjacency(std::span<const std::uint8_t> adjacency, int n) {
  constexpr const char* kFunction = "from_adjacency";
  detail::require(n >= 0, kFunction, "the number of words is negative");
  const std::size_t side = static_cast<std::size_t>(n) + 1;
  detail::require(adjacency.size() == side * side, kFunction,
                  "adjacency must have (n+1)^2 entries");
  Tree heads(side - 1, -1);
  for (std::size_t h = 0; h < side; ++h) {
    detail::require(adjacency[h * side] == 0, kFunction, "ROOT has a head");
    for (std::size_t m = 1; m < side; ++m) {
      if (adjacency[h * side + m] == 0) continue;
      if (h == m || heads[m - 1] != -1) {
        detail::misuse(kFunction, "word " + std::to_string(m) +
                                      (h == m ? " is its own head" : " has more than one head"));
      }
      heads[m - 1] = static_cast<std::int32_t>(h);
    }
  }
  for (std::size_t m = 1; m < side; ++m) {
    if (heads[m - 1] == -1) {
      detail::misuse(kFunction, "word " + std::to_string(m) + " has no head");
    }
  }
  return heads;
}

}  // namespace taproot
