// SPDX-License-Identifier: Apache-2.0
// The contraction against the enumeration, and on larger sentences against itself.
#include "testing/arborescence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testing/families.h"
#include "testing/graph.h"

namespace taproot::oracle {
namespace {

constexpr Root kRoots[] = {Root::kSingle, Root::kMulti};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Multiples of 2^-10: all that contraction adds and subtracts is exact, masks of -1e9 included.
Problem dyadic(Problem problem) {
  for (double& score : problem.scores) score = std::round(score * 1024.0) / 1024.0;
  return problem;
}

// Each edge one of `scores`, alike; column 0 and the diagonal hold what must be ignored.
Problem drawn_from(int n, const std::vector<double>& scores, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Problem problem{n, std::vector<double>(static_cast<std::size_t>((n + 1) * (n + 1)))};
  for (int h = 0; h <= n; ++h) {
    for (int m = 0; m <= n; ++m) {
      const double score = scores[static_cast<std::size_t>(random() % scores.size())];
      problem.scores[cell(n, h, m)] = m == 0 || m == h ? 1e6 : score;
    }
  }
  return problem;
}

// gaussian(), about half of the edges at -1e9, so that every tree may need some.
Problem half_masked(int n, std::uint64_t seed) {
  Problem problem = gaussian(n, 1.0, seed);
  std::mt19937_64 random(seed);
  for (double& score : problem.scores) {
    if (random() % 2 == 0 && score > -kInfinity) score = -1e9;
  }
  return problem;
}

struct Named {
  std::string name;
  Problem problem;
};

std::vector<Named> small_problems() {
  std::vector<Named> problems;
  for (int n = 1; n <= 6; ++n) {
    const std::uint64_t seeds = n == 6 ? 3 : 12;
    const auto add = [&](const std::string& family, std::uint64_t seed, Problem problem) {
      problems.push_back({family + " n=" + std::to_string(n) + " seed=" + std::to_string(seed),
                          std::move(problem)});
    };
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      add("gaussian", seed, gaussian(n, 3.0, seed));
      add("attractor_pairs", seed, attractor_pairs(n, 40.0, seed));
      add("rings", seed, rings(n, 3, 50.0, seed));
      add("nested_rings", seed, nested_rings(n, 30.0, seed));
      add("near_empty_columns", seed, near_empty_columns(n, seed));
      add("masked", seed, masked(n, -1e9, seed));
      add("half_masked", seed, half_masked(n, seed));
      add("ties", seed, drawn_from(n, {0.0, 1.0, 2.0}, seed));
      add("ties, masks", seed, drawn_from(n, {0.0, 1.0, 2.0, -1e9}, seed));
      add("ties, sparse", seed, drawn_from(n, {0.0, 1.0, -kInfinity}, seed));
    }
    for (std::uint64_t seed = 1; seed <= 2 * seeds; ++seed) {
      add("sparse 0.3", seed, sparse(n, 0.3, seed));
      add("sparse 0.5", seed, sparse(n, 0.5, seed));
    }
  }
  return problems;
}

TEST(Arborescence, BestTreeIsTheFirstOfTheEnumeration) {
  int feasible = 0;
  int infeasible = 0;
  int unique = 0;
  for (const Named& named : small_problems()) {
    const Problem problem = dyadic(named.problem);
    for (const Root root : kRoots) {
      SCOPED_TRACE(named.name + (root == Root::kSingle ? " single" : " multi"));
      const auto ranked = ranked_trees(problem, root);
      const BestTree best = best_tree(problem, root);
      ASSERT_EQ(best.feasible, !ranked.empty());
      if (!best.feasible) {
        EXPECT_TRUE(best.heads.empty() && std::isnan(best.score));
        ++infeasible;
        continue;
      }
      ++feasible;
      EXPECT_EQ(best.score, ranked[0].first);
      EXPECT_NE(std::find(ranked.begin(), ranked.end(), std::pair(best.score, best.heads)),
                ranked.end());
      if (ranked.size() == 1 || ranked[0].first > ranked[1].first) {
        EXPECT_EQ(best.heads, ranked[0].second);
        ++unique;
      }
    }
  }
  EXPECT_GT(feasible, 800);
  EXPECT_GT(infeasible, 200);
  EXPECT_GT(unique, 500);
  EXPECT_GT(feasible - unique, 100);
}

TEST(Arborescence, RoundedScoresToo) {
  for (const Named& named : small_problems()) {
    for (const Root root : kRoots) {
      SCOPED_TRACE(named.name + (root == Root::kSingle ? " single" : " multi"));
      const auto ranked = ranked_trees(named.problem, root);
      const BestTree best = best_tree(named.problem, root);
      ASSERT_EQ(best.feasible, !ranked.empty());
      if (!best.feasible) continue;
      double largest = 0.0;
      for (int h = 0; h <= named.problem.n; ++h) {
        for (int m = 1; m <= named.problem.n; ++m) {
          if (!has_edge(named.problem, h, m)) continue;
          largest = std::max(largest, std::abs(named.problem.scores[cell(named.problem.n, h, m)]));
        }
      }
      EXPECT_NEAR(best.score, ranked[0].first, 1e-14 * largest);
    }
  }
}

// The definition of the single-root rule: the best over the words that ROOT may be the head of.
TEST(Arborescence, SingleRootIsTheBestOverRoots) {
  for (const int n : {12, 25}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      for (const Problem& original :
           {gaussian(n, 3.0, seed), rings(n, 4, 50.0, seed), nested_rings(n, 30.0, seed),
            half_masked(n, seed), sparse(n, 0.3, seed), drawn_from(n, {0.0, 1.0, 2.0}, seed)}) {
        const Problem problem = dyadic(original);
        double expected = -kInfinity;
        for (int top = 1; top <= n; ++top) {
          Problem given = problem;
          for (int m = 1; m <= n; ++m) {
            if (m != top) given.scores[cell(n, 0, m)] = -kInfinity;
          }
          const BestTree tree = best_tree(given, Root::kMulti);
          if (tree.feasible) expected = std::max(expected, tree.score);
        }
        const BestTree best = best_tree(problem, Root::kSingle);
        ASSERT_EQ(best.feasible, expected > -kInfinity);
        if (!best.feasible) continue;
        EXPECT_EQ(best.score, expected);
        EXPECT_EQ(std::count(best.heads.begin(), best.heads.end(), 0), 1);
        EXPECT_GT(log_prob(problem, Root::kSingle, best.heads), -kInfinity);
      }
    }
  }
}

// Other names for the words take contraction another way.
TEST(Arborescence, NamesOfWordsDoNotMatter) {
  const int n = 60;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<int> names(static_cast<std::size_t>(n) + 1);
    for (int v = 0; v <= n; ++v) names[static_cast<std::size_t>(v)] = v;
    std::shuffle(names.begin() + 1, names.end(), std::mt19937_64(seed));
    for (const Problem& original : {gaussian(n, 3.0, seed), nested_rings(n, 30.0, seed),
                                    attractor_pairs(n, 40.0, seed), half_masked(n, seed)}) {
      const Problem problem = dyadic(original);
      Problem renamed = problem;
      for (int h = 0; h <= n; ++h) {
        for (int m = 0; m <= n; ++m) {
          renamed.scores[cell(n, names[static_cast<std::size_t>(h)],
                              names[static_cast<std::size_t>(m)])] = problem.scores[cell(n, h, m)];
        }
      }
      for (const Root root : kRoots) {
        EXPECT_EQ(best_tree(problem, root).score, best_tree(renamed, root).score);
      }
    }
  }
}

TEST(Arborescence, Infeasible) {
  Problem lone{1, {0.0, -kInfinity, 0.0, 0.0}};
  Problem two_roots = uniform(3);  // no edge between words
  Problem no_root = uniform(3);    // words only among themselves
  Problem no_head = uniform(3);    // word 2 without a head
  Problem trapped = uniform(4);    // words 3 and 4 only from each other
  for (int h = 0; h <= 3; ++h) {
    for (int m = 1; m <= 3; ++m) {
      (h == 0 ? no_root : two_roots).scores[cell(3, h, m)] = -kInfinity;
    }
    no_head.scores[cell(3, h, 2)] = -kInfinity;
  }
  for (int h = 0; h <= 2; ++h) {
    trapped.scores[cell(4, h, 3)] = trapped.scores[cell(4, h, 4)] = -kInfinity;
  }
  for (const Root root : kRoots) {
    for (const Problem& problem : {lone, no_root, no_head, trapped}) {
      const BestTree best = best_tree(problem, root);
      EXPECT_FALSE(best.feasible);
      EXPECT_TRUE(best.heads.empty());
      EXPECT_TRUE(std::isnan(best.score));
      EXPECT_TRUE(ranked_trees(problem, root).empty());
    }
  }
  EXPECT_FALSE(best_tree(two_roots, Root::kSingle).feasible);
  EXPECT_EQ(best_tree(two_roots, Root::kMulti).heads, (std::vector<std::int32_t>{0, 0, 0}));
}

TEST(Arborescence, RanksByScoreThenHeads) {
  const auto trees = ranked_trees(drawn_from(4, {0.0, 1.0, 2.0}, 7), Root::kMulti);
  EXPECT_EQ(trees.size(), 125u);
  for (std::size_t t = 1; t < trees.size(); ++t) {
    EXPECT_TRUE(trees[t - 1].first > trees[t].first ||
                (trees[t - 1].first == trees[t].first && trees[t - 1].second < trees[t].second));
  }
}

TEST(Arborescence, RefusesBadProblems) {
  EXPECT_THROW(best_tree({2, {0.0}}, Root::kMulti), std::invalid_argument);
  EXPECT_THROW(best_tree({1, {0.0, kInfinity, 0.0, 0.0}}, Root::kMulti), std::invalid_argument);
  EXPECT_THROW(ranked_trees(uniform(7), Root::kSingle), std::invalid_argument);
}

}  // namespace
}  // namespace taproot::oracle
