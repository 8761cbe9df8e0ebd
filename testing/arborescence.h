// SPDX-License-Identifier: Apache-2.0
// The best tree by textbook contraction (Chu and Liu 1965, Edmonds 1967), and all trees by rank.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "testing/oracle.h"

namespace taproot::oracle {

// Without a tree: feasible = false, heads empty, score NaN.
struct BestTree {
  bool feasible;
  std::vector<std::int32_t> heads;
  double score;  // of `heads`, summed in word order
};

// A tree of the greatest score; which one of several is unspecified. O(n^3), on doubles: optimal
// exactly if the differences of scores that contraction forms are exact (integers, say), else up to
// their rounding.
// Single-root: edges weigh (-1 if from ROOT, score), compared lexicographically, so that the number
// of ROOT edges comes first and no constant blurs the scores.
BestTree best_tree(const Problem& problem, Root root);

// Every tree by score, greatest first, ties in lexicographic order of the heads. The score is
// summed in word order. Empty if there is none. n <= 6, else std::invalid_argument.
std::vector<std::pair<double, std::vector<std::int32_t>>> ranked_trees(const Problem& problem,
                                                                       Root root);

}  // namespace taproot::oracle
