// SPDX-License-Identifier: Apache-2.0
#include "taproot/constraints.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.h"

namespace taproot {
namespace {

void check_edge(const char* function, int head, int modifier) {
  if (head >= 0 && modifier >= 1 && head != modifier) return;
  detail::misuse(function, std::to_string(head) + " -> " + std::to_string(modifier) +
                               " is not an edge: a head is 0 (ROOT) or a word, and a modifier is "
                               "another word");
}

}  // namespace

Constraints& Constraints::force(int head, int modifier) {
  check_edge("Constraints::force", head, modifier);
  forced_.emplace_back(head, modifier);
  return *this;
}

Constraints& Constraints::forbid(int head, int modifier) {
  check_edge("Constraints::forbid", head, modifier);
  forbidden_.emplace_back(head, modifier);
  return *this;
}

Constraints& Constraints::allow_roots(std::span<const std::int32_t> words) {
  for (const std::int32_t word : words) {
    detail::require(word >= 1, "Constraints::allow_roots", "roots are words, numbered from 1");
  }
  if (!has_roots_) {
    roots_.assign(words.begin(), words.end());
    has_roots_ = true;
    return *this;
  }
  // A word is allowed as a root only if both calls name it. A word that one call names gets a
  // forbidden edge instead of being dropped, because fits() checks every word that was named.
  const auto names = [](const auto& list, std::int32_t word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  for (const std::int32_t word : words) {
    if (!names(roots_, word)) forbidden_.emplace_back(0, word);
  }
  for (const std::int32_t word : roots_) {
    if (!names(words, word)) forbidden_.emplace_back(0, word);
  }
  std::erase_if(roots_, [&](std::int32_t word) { return !names(words, word); });
  return *this;
}

Constraints& Constraints::force_partial_tree(TreeView heads) {
  for (int m = 1; m <= static_cast<int>(heads.size()); ++m) {
    const std::int32_t head = heads[static_cast<std::size_t>(m) - 1];
    if (head >= 0) check_edge("Constraints::force_partial_tree", head, m);
  }
  detail::require(length_ < 0 || heads.size() == static_cast<std::size_t>(length_),
                  "Constraints::force_partial_tree", "two partial trees differ in length");
  length_ = static_cast<std::int32_t>(heads.size());
  for (std::int32_t m = 1; m <= length_; ++m) {
    const std::int32_t head = heads[static_cast<std::size_t>(m) - 1];
    if (head >= 0) forced_.emplace_back(head, m);
  }
  return *this;
}

bool Constraints::fits(int n) const {
  const auto edge_fits = [n](const Edge& edge) { return edge.first <= n && edge.second <= n; };
  return (length_ < 0 || length_ == n) && std::all_of(forced_.begin(), forced_.end(), edge_fits) &&
         std::all_of(forbidden_.begin(), forbidden_.end(), edge_fits) &&
         std::all_of(roots_.begin(), roots_.end(), [n](std::int32_t word) { return word <= n; });
}

ScoreView Constraints::apply(const ScoreView& scores, std::vector<double>& memory) const {
  const int n = scores.n();
  detail::require(fits(n), "Constraints::apply", "a constraint names a word beyond the sentence");
  const std::size_t side = static_cast<std::size_t>(n) + 1;
  memory.resize(side * side);
  for (int h = 0; h <= n; ++h) {
    double* row = memory.data() + static_cast<std::size_t>(h) * side;
    for (int m = 0; m <= n; ++m) row[m] = h == m || m == 0 ? -HUGE_VAL : scores(h, m);
  }
  const auto cell = [&](std::int32_t h, std::int32_t m) -> double& {
    return memory[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)];
  };
  for (const auto& [head, modifier] : forbidden_) cell(head, modifier) = -HUGE_VAL;
  for (const auto& [head, modifier] : forced_) {
    for (int h = 0; h <= n; ++h) {
      if (h != head) cell(h, modifier) = -HUGE_VAL;
    }
  }
  if (has_roots_) {
    for (std::int32_t m = 1; m <= n; ++m) {
      if (std::find(roots_.begin(), roots_.end(), m) == roots_.end()) cell(0, m) = -HUGE_VAL;
    }
  }
  return {memory.data(), n};
}

}  // namespace taproot
