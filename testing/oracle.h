// SPDX-License-Identifier: Apache-2.0
// The exact oracle of the test suite: answers in multiprecision, rounded once to double at the end.
//
// It shares no code and no algorithm with the library. Small problems are enumerated tree by tree,
// larger ones go through the Matrix-Tree theorem (Tutte 1948; single-root after Koo et al. 2007).
// Every result of `matrix_tree` and of the functions below it comes with an error bound and is
// computed at two precisions that must agree; precision grows until both hold.
//
// Not thread-safe: the precision is a global of Boost.Multiprecision.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace taproot::oracle {

enum class Root { kSingle, kMulti };

// Scores (natural-log weights) of a sentence of n >= 1 words, row-major [n+1][n+1],
// [head][modifier], 0 = ROOT. -inf forbids an edge; column 0 and the diagonal are ignored, whatever
// they hold. Elsewhere NaN, +inf and finite scores beyond +-1e15 make every function here throw
// std::invalid_argument, as does a wrong size.
struct Problem {
  int n;
  std::vector<double> scores;
};

// Without a tree: feasible = false, marginals empty, all else NaN.
struct Answer {
  bool feasible;
  double log_partition;
  double entropy;
  std::vector<double> marginals;  // [n+1][n+1], [head][modifier]; 0 in column 0 and the diagonal
  // Expected number of head draws of Wilson's walk. Multi-root: sum_m d_m (L^-1)_mm, d_m the column
  // sum (ROOT included). Single-root: the same on the words alone with the root given, averaged
  // over the root by its marginal. +inf if beyond double, NaN from `enumerate`.
  double expected_steps;
};

// Sums over all trees. n <= 6, else std::invalid_argument.
Answer enumerate(const Problem& problem, Root root);

// Any n; O(n^3) multiprecision operations. Correctly rounded, marginals and entropy included,
// however small (up to ties of the 25th digit). The digits needed grow with the logarithm of the
// number of visits of Wilson's walk: std::runtime_error beyond 2^17 (words trapped in a cycle that
// can only be left through an edge of weight e^-50000 or less; masks off the way cost nothing).
Answer matrix_tree(const Problem& problem, Root root);

// log p(heads); heads[i-1] is the head of word i. -inf if `heads` is not a tree of the problem
// under this rule, NaN if the problem has no tree. Throws std::invalid_argument unless n heads in
// [0, n].
double log_prob(const Problem& problem, Root root, const std::vector<std::int32_t>& heads);

// Z_multi / Z_single: expected draws of a multi-root sampler until one tree has a single root.
// +inf if only multi-root trees exist, NaN if there are none.
double expected_tries(const Problem& problem);

// -sum_t p(t) log q(t), and sum_t p(t) log(p(t)/q(t)), over the trees of `root`. +inf if an edge of
// some tree of p is forbidden in q; NaN if p or q has no tree. Same n, else std::invalid_argument.
double cross_entropy(const Problem& p, const Problem& q, Root root);
double kl_divergence(const Problem& p, const Problem& q, Root root);

// d/dt of the marginals at scores + t direction, t = 0: Cov(edge, edge') times `direction`, which
// is read at edges that exist and must be finite there. Rounded as matrix_tree's answers; empty if
// there is no tree.
std::vector<double> marginals_derivative(const Problem& problem, Root root,
                                         const std::vector<double>& direction);

// Every tree with its probability, in lexicographic order of the heads. Empty if there is none.
// n <= 6, else std::invalid_argument.
std::vector<std::pair<std::vector<std::int32_t>, double>> all_trees(const Problem& problem,
                                                                    Root root);

}  // namespace taproot::oracle
