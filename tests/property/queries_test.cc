// SPDX-License-Identifier: Apache-2.0
//
// The queries beyond log Z, marginals and entropy, of single sentences, against the oracle.
#include <gtest/gtest.h>

#include <cmath>

#include "property/check.h"
#include "testing/families.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr Root kRoots[] = {Root::kSingle, Root::kMulti};

std::vector<Problem> mixed_problems() {
  return {oracle::uniform(1),
          oracle::uniform(7),
          oracle::gaussian(2, 1, 1),
          oracle::gaussian(3, 1, 2),
          oracle::gaussian(12, 3, 3),
          oracle::gaussian(30, 10, 4),
          oracle::heavy_tailed(9, 5),
          oracle::attractor_pairs(8, 5, 6),
          oracle::attractor_pairs(9, 25, 7),
          oracle::attractor_pairs(6, 900, 8),
          oracle::rings(9, 3, 12, 9),
          oracle::nested_rings(9, 8, 10),
          oracle::near_empty_columns(11, 11),
          oracle::sparse(8, 0.6, 2),
          oracle::masked(10, -1e4, 12),
          oracle::column_offsets(8, 1e5, 13)};
}

// Closed forms of Wilson's walk, and of its tries, at uniform weights.
TEST(Queries, ExpectedWalksAtZeroScores) {
  for (const int n : {1, 2, 3, 4, 10, 50, 100, 300, 999}) {
    const Problem problem = oracle::uniform(n);
    const Factorization s = factored(problem, Root::kSingle);
    const Factorization m = factored(problem, Root::kMulti);
    EXPECT_NEAR(expected_tries(s) / std::pow((n + 1.0) / n, n - 1), 1, 1e-11) << n;
    EXPECT_NEAR(expected_steps(s), 2.0 * (n - 1) * (n - 1) / n, 1e-9 * n) << n;
    EXPECT_NEAR(expected_steps(m), 2.0 * n * n / (n + 1), 1e-9 * n) << n;
  }
}

// All edges out of ROOT moved together, by so much that a rounding of the offset would show. Scores
// are multiples of 2^-20, so the sums are exact.
TEST(Queries, AnOffsetOfRootDoesNotChangeDivergences) {
  const auto made = [](int n, std::uint64_t seed, double offset) {
    Problem problem = oracle::gaussian(n, 2, seed);
    for (double& s : problem.scores) s = std::nearbyint(s * 0x1p20) * 0x1p-20;
    for (std::size_t m = 1; m <= static_cast<std::size_t>(n); ++m) problem.scores[m] += offset;
    return problem;
  };
  for (const int n : {1, 2, 9, 30}) {
    const Factorization plain = factored(made(n, 1, 0), Root::kSingle);
    const Factorization other = factored(made(n, 2, 0), Root::kSingle);
    for (const double offset : {-0x1p30, -0x1p14, 0x1p14, 0x1p30}) {
      const Factorization moved = factored(made(n, 1, offset), Root::kSingle);
      const Factorization other_moved = factored(made(n, 2, offset), Root::kSingle);
      EXPECT_NEAR(kl_divergence(moved, other_moved), kl_divergence(plain, other), 1e-12 * n);
      EXPECT_NEAR(cross_entropy(moved, other_moved), cross_entropy(plain, other), 1e-12 * n);
    }
  }
}

TEST(Queries, ExpectedStepsAndTriesAreExact) {
  for (const Problem& problem : mixed_problems()) {
    const double tries = oracle::expected_tries(problem);
    for (const Root root : kRoots) {
      SCOPED_TRACE(testing::Message() << "n = " << problem.n << " " << name(root));
      const Factorization f = factored(problem, root);
      const double steps = oracle::matrix_tree(problem, root).expected_steps;
      if (std::isinf(steps)) {
        EXPECT_TRUE(std::isinf(expected_steps(f)));
      } else {
        EXPECT_NEAR(expected_steps(f), steps, 1e-11 * std::max(1.0, steps));
      }
      EXPECT_NEAR(expected_tries(f) / tries, 1, 1e-12);
    }
  }
}

// Of graphs with few edges many have words with a ROOT edge that are the root of no tree.
TEST(Queries, ExpectedStepsAreExactOnSparseGraphs) {
  int with_such_words = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Problem problem = oracle::sparse(3 + static_cast<int>(seed % 4), 0.45, seed);
    const auto f = eliminate(ScoreView(problem.scores.data(), problem.n));
    if (!f.outcome().ok()) continue;
    const std::vector<double> roots = root_marginals(f);
    for (std::size_t m = 1; m <= static_cast<std::size_t>(problem.n); ++m) {
      if (roots[m - 1] == 0 && problem.scores[m] > -HUGE_VAL) {
        ++with_such_words;
        break;
      }
    }
    const double steps = oracle::matrix_tree(problem, Root::kSingle).expected_steps;
    EXPECT_NEAR(expected_steps(f), steps, 1e-12 * std::max(1.0, steps)) << "seed " << seed;
  }
  EXPECT_GE(with_such_words, 20);
}

// Near the largest scores the columns' scales add up to more than a double counts exactly.
TEST(Queries, ExpectedTriesAreExactForTheLargestScores) {
  for (const int n : {7, 9, 20}) {
    Problem problem = oracle::uniform(n);
    const auto side = static_cast<std::size_t>(n) + 1;
    for (std::size_t h = 0; h < side; ++h) {
      for (std::size_t m = 1; m < side; ++m) {
        if (h == m) continue;
        const double gap = h == 0 ? 0 : static_cast<double>(m % 2 + 1);
        problem.scores[h * side + m] = 1e15 - 1 - gap;
      }
    }
    const double exact = oracle::expected_tries(problem);
    for (const Root root : kRoots) {
      EXPECT_NEAR(expected_tries(factored(problem, root)) / exact, 1, 1e-12) << n;
    }
  }
}

TEST(Queries, ExpectedTriesAreInfiniteWithoutASingleRootTree) {
  // Two words that only ROOT can head.
  const std::vector<double> scores{0, 1, 2, 0, 0, -HUGE_VAL, 0, -HUGE_VAL, 0};
  EXPECT_EQ(expected_tries(eliminate(ScoreView(scores.data(), 2), RootRule::kMulti)), HUGE_VAL);
}

TEST(Queries, LogProbOfHeadsThatAreNotATree) {
  const Problem problem = oracle::gaussian(3, 1, 1);
  const Factorization single = factored(problem, Root::kSingle);
  const Factorization multi = factored(problem, Root::kMulti);
  const std::vector<std::int32_t> cycle{2, 1, 0};
  const std::vector<std::int32_t> two_roots{0, 0, 1};
  EXPECT_EQ(log_prob(single, cycle), -HUGE_VAL);
  EXPECT_EQ(log_prob(single, two_roots), -HUGE_VAL);
  EXPECT_TRUE(std::isfinite(log_prob(multi, two_roots)));
  EXPECT_THROW(log_prob(single, std::vector<std::int32_t>{0, 1}), std::invalid_argument);
  EXPECT_THROW(log_prob(single, std::vector<std::int32_t>{0, 1, 4}), std::invalid_argument);
  EXPECT_THROW(log_prob(single, std::vector<std::int32_t>{0, 1, -1}), std::invalid_argument);
}

TEST(Queries, DivergencesAreExact) {
  const std::vector<std::pair<Problem, Problem>> pairs{
      {oracle::gaussian(1, 1, 1), oracle::gaussian(1, 1, 2)},
      {oracle::gaussian(6, 1, 1), oracle::gaussian(6, 2, 2)},
      {oracle::gaussian(20, 3, 3), oracle::gaussian(20, 3, 4)},
      {oracle::attractor_pairs(8, 30, 5), oracle::gaussian(8, 1, 6)},
      {oracle::near_empty_columns(9, 7), oracle::gaussian(9, 1, 8)},
      {oracle::column_offsets(7, 1e5, 9), oracle::column_offsets(7, 1e5, 10)}};
  for (const auto& [p, q] : pairs) {
    for (const Root root : kRoots) {
      const Factorization fp = factored(p, root);
      const Factorization fq = factored(q, root);
      const double cross = oracle::cross_entropy(p, q, root);
      const double kl = oracle::kl_divergence(p, q, root);
      EXPECT_NEAR(cross_entropy(fp, fq), cross, 1e-11 * std::max(1.0, std::abs(cross)));
      EXPECT_NEAR(kl_divergence(fp, fq), kl, 1e-11 * std::max(1.0, kl));
      EXPECT_EQ(kl_divergence(fp, fp), 0);
      EXPECT_NEAR(cross_entropy(fp, fp), entropy(fp), 1e-12 * std::max(1.0, entropy(fp)));
    }
  }
}

// q forbids one edge that p allows. Infinite exactly when some tree of p has the edge, even where
// its probability is far below what a marginal resolves.
TEST(Queries, DivergenceIsInfiniteByTheGraphAlone) {
  int infinite = 0;
  int finite = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Problem p = seed % 2 == 0 ? oracle::sparse(5, 0.4, seed) : oracle::attractor_pairs(4, 60, seed);
    for (std::size_t cell = 0; cell < p.scores.size(); ++cell) {
      const int head = static_cast<int>(cell) / (p.n + 1);
      const int modifier = static_cast<int>(cell) % (p.n + 1);
      if (modifier == 0 || head == modifier || p.scores[cell] == -HUGE_VAL) continue;
      Problem q = p;
      q.scores[cell] = -HUGE_VAL;
      for (const Root root : kRoots) {
        const Factorization fp = factored(p, root);
        const Factorization fq = factored(q, root);
        if (!fp.outcome().ok() || !fq.outcome().ok()) continue;
        const double exact = oracle::kl_divergence(p, q, root);
        EXPECT_EQ(std::isinf(kl_divergence(fp, fq)), std::isinf(exact));
        EXPECT_EQ(std::isinf(cross_entropy(fp, fq)), std::isinf(exact));
        (std::isinf(exact) ? infinite : finite)++;
      }
    }
  }
  EXPECT_GT(infinite, 100);
  EXPECT_GT(finite, 20);
}

TEST(Queries, ExpectationIsASumOverTrees) {
  const Problem problem = oracle::gaussian(5, 2, 3);
  std::vector<double> values = oracle::gaussian(5, 4, 4).scores;
  for (const Root root : kRoots) {
    double exact = 0;
    for (const auto& [heads, probability] : oracle::all_trees(problem, root)) {
      double value = 0;
      for (std::size_t m = 1; m <= heads.size(); ++m) {
        value += values[static_cast<std::size_t>(heads[m - 1]) * 6 + m];
      }
      exact += probability * value;
    }
    EXPECT_NEAR(expectation(factored(problem, root), values), exact, 1e-12);
  }
  // Infinite values of edges that no tree has count nothing.
  Problem forced = problem;
  forced.scores[2 * 6 + 3] = -HUGE_VAL;
  values[2 * 6 + 3] = HUGE_VAL;
  EXPECT_TRUE(std::isfinite(expectation(factored(forced, Root::kSingle), values)));
  // 1 -> 2 is allowed and in no tree, though its marginal rounds to 1e-17.
  constexpr double kNo = -HUGE_VAL;
  const std::vector<double> scores = {0,  kNo, 0, 0,   kNo, 0, 0,   0, 0, 2,   0, -1, 0,
                                      -1, -1,  0, kNo, 0,   0, kNo, 0, 0, kNo, 0, 0};
  std::vector<double> one(25, 0.0);
  one[1 * 5 + 2] = std::nan("");
  EXPECT_EQ(expectation(eliminate({scores.data(), 4}), one), 0);
}

TEST(Queries, MisuseThrows) {
  const Factorization f = factored(oracle::gaussian(4, 1, 1), Root::kSingle);
  const Factorization longer = factored(oracle::gaussian(5, 1, 1), Root::kSingle);
  const Factorization multi = factored(oracle::gaussian(4, 1, 1), Root::kMulti);
  std::vector<double> out(25);
  Workspace workspace;
  EXPECT_THROW(expectation(f, std::vector<double>(24)), std::invalid_argument);
  EXPECT_THROW(kl_divergence(f, longer), std::invalid_argument);
  EXPECT_THROW(kl_divergence(f, multi), std::invalid_argument);
  EXPECT_THROW(cross_entropy(f, longer), std::invalid_argument);
  EXPECT_THROW(marginals(f, {out.data(), 4}, workspace), std::invalid_argument);
  EXPECT_THROW(marginals(f, {nullptr, 5}, workspace), std::invalid_argument);
  EXPECT_THROW(root_marginals(f, std::span<double>(out), workspace), std::invalid_argument);
}

}  // namespace
}  // namespace taproot
