// SPDX-License-Identifier: Apache-2.0
// The oracle against itself (two algorithms), against golden.json and against closed forms.
#include "testing/oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testing/families.h"
#include "testing/golden.h"
#include "testing/paths.h"

namespace taproot::oracle {
namespace {

constexpr Root kRoots[] = {Root::kSingle, Root::kMulti};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Both sides round the same real number: no tolerance.
void expect_same(const Answer& actual, const Answer& expected) {
  ASSERT_EQ(actual.feasible, expected.feasible);
  ASSERT_EQ(actual.marginals.size(), expected.marginals.size());
  if (!expected.feasible) {
    EXPECT_TRUE(std::isnan(actual.log_partition) && std::isnan(actual.entropy));
    return;
  }
  EXPECT_EQ(actual.log_partition, expected.log_partition);
  EXPECT_EQ(actual.entropy, expected.entropy);
  for (std::size_t c = 0; c < expected.marginals.size(); ++c) {
    EXPECT_EQ(actual.marginals[c], expected.marginals[c]) << "cell " << c;
  }
}

std::vector<std::pair<std::string, Problem>> small_problems() {
  std::vector<std::pair<std::string, Problem>> problems;
  for (int n = 1; n <= 5; ++n) {
    const auto add = [&](const std::string& family, std::uint64_t seed, Problem problem) {
      problems.emplace_back(family + " n=" + std::to_string(n) + " seed=" + std::to_string(seed),
                            std::move(problem));
    };
    add("uniform", 0, uniform(n));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      add("gaussian", seed, gaussian(n, 3.0, seed));
      add("heavy_tailed", seed, heavy_tailed(n, seed));
      add("attractor_pairs 40", seed, attractor_pairs(n, 40.0, seed));
      add("attractor_pairs 900", seed, attractor_pairs(n, 900.0, seed));
      add("rings", seed, rings(n, 3, 50.0, seed));
      add("nested_rings", seed, nested_rings(n, 30.0, seed));
      add("near_empty_columns", seed, near_empty_columns(n, seed));
      add("wide_range", seed, wide_range(n, 600.0, seed));
      add("masked 1e4", seed, masked(n, -1e4, seed));
      add("masked 1e9", seed, masked(n, -1e9, seed));
      add("column_offsets", seed, column_offsets(n, 1e5, seed));
      add("float", seed, rounded_to_float(gaussian(n, 3.0, seed)));
    }
    for (std::uint64_t seed = 1; seed <= 12; ++seed) add("sparse", seed, sparse(n, 0.4, seed));
  }
  return problems;
}

// The definition, summed tree by tree in double.
double enumerated_cross_entropy(const Problem& p, const Problem& q, Root root) {
  double sum = 0.0;
  for (const auto& [heads, probability] : all_trees(p, root)) {
    sum -= probability * log_prob(q, root, heads);
  }
  return sum;
}

// Expected visits to `word` of the walk from it, from modifier to head until `top`, by value
// iteration: no linear algebra shared with the oracle.
double visits(const Problem& problem, int top, int word) {
  const int n = problem.n;
  const auto weight = [&](int h, int m) {
    return std::exp(problem.scores[static_cast<std::size_t>(h * (n + 1) + m)]);
  };
  std::vector<double> value(static_cast<std::size_t>(n) + 1, 0.0);
  for (int sweep = 0; sweep < 2000; ++sweep) {
    for (int m = 1; m <= n; ++m) {
      if (m == top) continue;
      double total = 0.0;
      double mean = 0.0;
      for (int h = top == 0 ? 0 : 1; h <= n; ++h) {
        if (h == m) continue;
        total += weight(h, m);
        mean += weight(h, m) * value[static_cast<std::size_t>(h)];
      }
      value[static_cast<std::size_t>(m)] = mean / total + (m == word ? 1.0 : 0.0);
    }
  }
  return value[static_cast<std::size_t>(word)];
}

TEST(Oracle, EnumerationAndMatrixTreeAgree) {
  int feasible = 0;
  int infeasible = 0;
  for (const auto& [name, problem] : small_problems()) {
    for (const Root root : kRoots) {
      SCOPED_TRACE(name + (root == Root::kSingle ? " single" : " multi"));
      const Answer expected = enumerate(problem, root);
      expect_same(matrix_tree(problem, root), expected);
      ++(expected.feasible ? feasible : infeasible);
    }
  }
  EXPECT_GT(feasible, 300);
  EXPECT_GT(infeasible, 20);
}

TEST(Oracle, SixWordsAgree) {
  for (const Root root : kRoots) {
    for (const Problem& problem :
         {gaussian(6, 2.0, 1), attractor_pairs(6, 900.0, 2), nested_rings(6, 200.0, 3)}) {
      expect_same(matrix_tree(problem, root), enumerate(problem, root));
    }
  }
}

TEST(Oracle, ReproducesGolden) {
  const std::vector<GoldenCase> cases = load_golden(golden_file("golden.json"));
  EXPECT_EQ(cases.size(), 22u);
  for (const GoldenCase& golden : cases) {
    for (const Root root : kRoots) {
      SCOPED_TRACE(golden.name + (root == Root::kSingle ? " single" : " multi"));
      const std::optional<Answer>& expected =
          root == Root::kSingle ? golden.single_root : golden.multi_root;
      const Answer actual = matrix_tree(golden.problem, root);
      ASSERT_EQ(actual.feasible, expected.has_value());
      if (!expected) continue;
      EXPECT_NEAR(actual.log_partition, expected->log_partition,
                  1e-15 * std::abs(expected->log_partition));
      EXPECT_NEAR(actual.entropy, expected->entropy, 1e-15 * expected->entropy);
      ASSERT_EQ(actual.marginals.size(), expected->marginals.size());
      for (std::size_t c = 0; c < actual.marginals.size(); ++c) {
        EXPECT_NEAR(actual.marginals[c], expected->marginals[c], 1e-16) << "cell " << c;
      }
    }
  }
}

TEST(Oracle, CayleyCounts) {
  for (const int n : {1, 2, 3, 6, 12, 40}) {
    const Answer single = matrix_tree(uniform(n), Root::kSingle);
    const Answer multi = matrix_tree(uniform(n), Root::kMulti);
    EXPECT_DOUBLE_EQ(single.log_partition, (n - 1) * std::log(n));
    EXPECT_DOUBLE_EQ(multi.log_partition, (n - 1) * std::log(n + 1));
    EXPECT_DOUBLE_EQ(single.entropy, single.log_partition);
    const double tries = std::exp((n - 1) * std::log1p(1.0 / n));
    EXPECT_NEAR(expected_tries(uniform(n)), tries, 1e-14 * tries);
    // The complete graph: (L^-1)_mm = 2/(n+1) with ROOT, 2/n without, in degree n and n - 1.
    EXPECT_DOUBLE_EQ(multi.expected_steps, 2.0 * n * n / (n + 1));
    EXPECT_DOUBLE_EQ(single.expected_steps, 2.0 * (n - 1) * (n - 1) / n);
  }
  EXPECT_EQ(all_trees(uniform(5), Root::kSingle).size(), 625u);
  EXPECT_EQ(all_trees(uniform(5), Root::kMulti).size(), 1296u);
}

TEST(Oracle, ExpectedStepsAreVisitsOfTheWalk) {
  std::vector<Problem> problems;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    problems.push_back(gaussian(5, 1.0, seed));
    problems.push_back(near_empty_columns(5, seed));
  }
  for (const Problem& problem : problems) {
    const Answer multi = matrix_tree(problem, Root::kMulti);
    const Answer single = matrix_tree(problem, Root::kSingle);
    double multi_steps = 0.0;
    double single_steps = 0.0;
    for (int m = 1; m <= problem.n; ++m) {
      multi_steps += visits(problem, 0, m);
      for (int r = 1; r <= problem.n; ++r) {
        const double root_marginal = single.marginals[static_cast<std::size_t>(r)];
        if (r == m || root_marginal == 0.0) continue;
        single_steps += root_marginal * visits(problem, r, m);
      }
    }
    EXPECT_NEAR(multi.expected_steps, multi_steps, 1e-12 * multi_steps);
    EXPECT_NEAR(single.expected_steps, single_steps, 1e-12 * single_steps);
  }
  // Trapped in a pair for some e^100 steps, whatever the root.
  EXPECT_GT(matrix_tree(attractor_pairs(6, 100.0, 1), Root::kSingle).expected_steps, 1e42);
}

TEST(Oracle, LogProbIsLogOfTheTreesProbability) {
  for (const Root root : kRoots) {
    for (const Problem& problem :
         {gaussian(4, 2.0, 1), masked(4, -1e9, 2), sparse(4, 0.7, 3), attractor_pairs(4, 30, 4)}) {
      double total = 0.0;
      for (const auto& [heads, probability] : all_trees(problem, root)) {
        const double actual = log_prob(problem, root, heads);
        if (probability > 0.0) {
          EXPECT_NEAR(actual, std::log(probability), 1e-13 * (1.0 + std::abs(actual)));
        } else {
          EXPECT_LT(actual, -700.0);
        }
        total += probability;
      }
      EXPECT_NEAR(total, 1.0, 1e-14);
    }
  }
  EXPECT_EQ(log_prob(uniform(2), Root::kSingle, {0, 0}), -kInfinity);
  EXPECT_EQ(log_prob(uniform(2), Root::kMulti, {2, 1}), -kInfinity);
  EXPECT_EQ(log_prob(uniform(1), Root::kSingle, {0}), 0.0);
  EXPECT_THROW(log_prob(uniform(2), Root::kSingle, {0}), std::invalid_argument);
}

TEST(Oracle, CrossEntropyAndDivergence) {
  for (const Root root : kRoots) {
    const Problem p = gaussian(4, 1.0, 1);
    const Problem q = gaussian(4, 1.0, 2);
    const double cross = cross_entropy(p, q, root);
    EXPECT_NEAR(cross, enumerated_cross_entropy(p, q, root), 1e-13);
    EXPECT_NEAR(kl_divergence(p, q, root), cross - matrix_tree(p, root).entropy, 1e-13);
    EXPECT_EQ(kl_divergence(p, p, root), 0.0);

    Problem forbids = q;
    forbids.scores[1 * 5 + 2] = -kInfinity;
    EXPECT_EQ(cross_entropy(p, forbids, root), kInfinity);
    EXPECT_EQ(kl_divergence(p, forbids, root), kInfinity);
    EXPECT_LT(kl_divergence(forbids, p, root), kInfinity);
    EXPECT_TRUE(std::isnan(kl_divergence(p, sparse(4, 0.0, 1), root)));
  }
  // Word 2 can only hang below word 1, so edge 2 -> 1 is finite in p yet in no tree: q may drop it.
  const double x = -kInfinity;
  const Problem p{2, {x, 0.5, x, x, x, 0.3, x, 0.2, x}};
  Problem q = p;
  q.scores[2 * 3 + 1] = x;
  for (const Root root : kRoots) EXPECT_EQ(kl_divergence(p, q, root), 0.0);
}

TEST(Oracle, LargeAttractorsStayExact) {
  for (const Root root : kRoots) {
    const int n = 60;
    const Answer answer = matrix_tree(attractor_pairs(n, 900.0, 1), root);
    ASSERT_TRUE(answer.feasible);
    // One edge leaves each of the 30 pairs, the other edge of the pair stays.
    EXPECT_NEAR(answer.log_partition, -900.0 * n / 2, 400.0);
    for (int m = 1; m <= n; ++m) {
      double total = 0.0;
      for (int h = 0; h <= n; ++h)
        total += answer.marginals[static_cast<std::size_t>(h * (n + 1) + m)];
      EXPECT_NEAR(total, 1.0, 1e-14);
    }
  }
}

TEST(Oracle, RejectsMisuse) {
  EXPECT_THROW(enumerate(uniform(7), Root::kMulti), std::invalid_argument);
  EXPECT_THROW(all_trees(uniform(7), Root::kMulti), std::invalid_argument);
  EXPECT_THROW(matrix_tree({2, {0.0}}, Root::kMulti), std::invalid_argument);
  Problem problem = uniform(3);
  problem.scores[0] = kInfinity;     // ROOT as a modifier: ignored
  problem.scores[5] = std::nan("");  // the diagonal: ignored
  expect_same(matrix_tree(problem, Root::kSingle), matrix_tree(uniform(3), Root::kSingle));
  problem.scores[1] = std::nan("");
  EXPECT_THROW(matrix_tree(problem, Root::kSingle), std::invalid_argument);
}

}  // namespace
}  // namespace taproot::oracle
