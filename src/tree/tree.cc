// SPDX-License-Identifier: Apache-2.0
#include "taproot/tree.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.h"
#include "core/matrix_view.h"

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
  // Every word is visited once, because a walk stops at ROOT or at a word that is known to lead
  // there. A walk that meets itself has found a cycle.
  const auto n = static_cast<std::int32_t>(heads.size());
  constexpr std::int32_t kLeadsToRoot = -1;
  // The number of the walk that reached a word, or kLeadsToRoot.
  detail::IndexedVector<std::int32_t> walk(heads.size() + 1, 0);
  walk[0] = kLeadsToRoot;
  const std::int32_t* head = heads.data();
  for (std::int32_t start = 1; start <= n; ++start) {
    std::int32_t node = start;
    for (; walk[node] == 0; node = head[node - 1]) walk[node] = start;
    if (walk[node] == start) return false;
    for (node = start; walk[node] == start; node = head[node - 1]) walk[node] = kLeadsToRoot;
  }
  return true;
}

int root_count(TreeView heads) {
  return static_cast<int>(std::count(heads.begin(), heads.end(), 0));
}

bool is_tree(TreeView heads, RootRule root) {
  return is_tree(heads) && (root == RootRule::kMulti || root_count(heads) == 1);
}

// A tree is projective exactly if the descendants of every word are a run of words. Words are taken
// once all their modifiers are, and hand what they know of their descendants to their heads.
bool is_projective(TreeView heads) {
  if (heads.empty() || !in_range(heads)) return false;
  struct Descendants {
    std::int32_t first;
    std::int32_t last;
    std::int32_t count;
    std::int32_t waiting;  // Modifiers that have not been taken.
  };
  const auto n = static_cast<std::int32_t>(heads.size());
  detail::IndexedVector<Descendants> below(heads.size() + 1);
  for (std::int32_t m = 0; m <= n; ++m) below[m] = {m, m, 1, 0};
  for (const std::int32_t head : heads) ++below[head].waiting;
  std::int32_t taken = 0;
  for (std::int32_t leaf = 1; leaf <= n; ++leaf) {
    // Go up from a leaf as far as everything below is known; never twice through one word.
    for (std::int32_t m = leaf; m != 0 && below[m].waiting == 0;) {
      const Descendants own = below[m];
      if (own.last - own.first + 1 != own.count) return false;
      below[m].waiting = -1;
      ++taken;
      m = heads[static_cast<std::size_t>(m - 1)];
      Descendants& up = below[m];
      up = {std::min(up.first, own.first), std::max(up.last, own.last), up.count + own.count,
            up.waiting - 1};
    }
  }
  return taken == n;  // Words on a cycle wait for each other.
}

double score(const ScoreView& scores, TreeView heads) {
  detail::require(std::ssize(heads) == scores.n(), "score", "heads must have n entries");
  detail::require(in_range(heads), "score", "a head is outside 0..n");
  double sum = 0;
  int m = 0;
  for (const std::int32_t head : heads) {
    if (head == ++m) return -HUGE_VAL;  // The scores on the diagonal do not count.
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
  const detail::MatrixView matrix(adjacency.data(), side);
  int m = 0;
  for (const std::int32_t head : heads) matrix(head, ++m) = 1;
}

Tree from_adjacency(std::span<const std::uint8_t> adjacency, int n) {
  constexpr const char* kFunction = "from_adjacency";
  detail::require(n >= 0, kFunction, "the number of words is negative");
  const std::size_t side = detail::node_count(n);
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
