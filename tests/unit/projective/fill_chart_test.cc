// SPDX-License-Identifier: Apache-2.0
#include "projective/fill_chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "eliminate/factor_data.h"
#include "taproot/query.h"
#include "testing/families.h"

namespace taproot {
namespace {

Factorization factored(const oracle::Problem& problem, RootRule root) {
  return factorize(ScoreView(problem.scores.data(), problem.n), root, TreeFamily::kProjective);
}

// The number of projective trees with a single root is the number of ternary trees with n - 1
// inner nodes times ... , which is what comes out of the recursion below: t(n) counts the trees
// of n words by the sizes of the two forests beside the root.
std::vector<double> projective_counts(int most, bool single) {
  // f(n): projective forests over n words, where all roots hang off one word to the left of them.
  std::vector<double> tree(static_cast<std::size_t>(most) + 1, 0.0);
  std::vector<double> forest(static_cast<std::size_t>(most) + 1, 0.0);
  forest[0] = 1;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int n = 1; n <= most; ++n) {
    for (int left = 0; left < n; ++left) tree[at(n)] += forest[at(left)] * forest[at(n - 1 - left)];
    for (int first = 1; first <= n; ++first) {
      forest[at(n)] += tree[at(first)] * forest[at(n - first)];
    }
  }
  return single ? tree : forest;
}

TEST(FillChart, CountsTreesAtZeroScores) {
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    const std::vector<double> counts = projective_counts(12, root == RootRule::kSingle);
    for (int n = 1; n <= 12; ++n) {
      const double exact = counts[static_cast<std::size_t>(n)];
      EXPECT_NEAR(std::exp(log_partition(factored(oracle::uniform(n), root))), exact, 1e-11 * exact)
          << n << " " << to_string(root);
    }
  }
  // Known numbers: A006013 and A001764.
  EXPECT_EQ(projective_counts(5, true), (std::vector<double>{0, 1, 2, 7, 30, 143}));
  EXPECT_EQ(projective_counts(5, false), (std::vector<double>{1, 1, 3, 12, 55, 273}));
}

const detail::Chart& chart_of(const Factorization& f) { return detail::Access::data(f).chart; }

// Which of the two tests let a sentence stay in double shows in its largest weight: the second
// multiplies all weights by a common factor.
double largest_weight(const Factorization& f) {
  const auto c = chart_of(f).view();
  double top = 0;
  for (const auto t : {detail::kRightWeight, detail::kLeftWeight}) {
    for (int d = 1; d < c.size(); ++d) {
      for (int i = 0; i + d < c.size(); ++i) top = std::max(top, c(t, d, i));
    }
  }
  return top;
}

TEST(FillChart, StaysInDoubleByEitherTest) {
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    // Z loses some five bits per word against words that choose their heads freely.
    const Factorization near = factored(oracle::gaussian(25, 1, 1), root);
    EXPECT_FALSE(near.is_wide());
    EXPECT_LE(largest_weight(near), 1);
    const Factorization uniform = factored(oracle::uniform(300), root);
    EXPECT_FALSE(uniform.is_wide());
    EXPECT_NEAR(largest_weight(uniform), 4.0 / 27, 0.1);
    const Factorization far = factored(oracle::gaussian(300, 20, 1), root);
    EXPECT_TRUE(far.is_wide());
  }
}

TEST(FillChart, GivesUpDoubleWhereAWeightIsLost) {
  // The only projective tree needs an edge of weight e^-900 beside others of weight 1.
  const int n = 3;
  oracle::Problem problem{n, std::vector<double>(16, -HUGE_VAL)};
  const auto score = [&](int h, int m) -> double& {
    return problem.scores[static_cast<std::size_t>(4 * h + m)];
  };
  score(0, 2) = 0;
  score(3, 1) = 0;
  score(2, 3) = 0;
  score(2, 1) = -900;
  const Factorization f = factored(problem, RootRule::kSingle);
  EXPECT_TRUE(f.is_wide());
  EXPECT_NEAR(log_partition(f), -900, 1e-9);
  EXPECT_EQ(marginals(f)[2 * 4 + 1], 1);
}

TEST(FillChart, ReportsWhereThereIsNoProjectiveTree) {
  const int n = 3;
  oracle::Problem problem{n, std::vector<double>(16, -HUGE_VAL)};
  for (const auto& [h, m] : {std::pair{0, 2}, {3, 1}, {2, 3}}) {
    problem.scores[static_cast<std::size_t>(4 * h + m)] = 1;
  }
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    EXPECT_EQ(factored(problem, root).outcome(), Outcome{Status::kNoTree});
    EXPECT_TRUE(eliminate(ScoreView(problem.scores.data(), n), root).outcome().ok());
  }
}

TEST(FillChart, ReusesMemory) {
  Factorization f;
  Workspace workspace;
  for (const int n : {30, 5, 12, 31, 1}) {
    for (const TreeFamily family : {TreeFamily::kProjective, TreeFamily::kAll}) {
      const oracle::Problem problem = oracle::gaussian(n, 2, 1);
      const ScoreView view(problem.scores.data(), n);
      ASSERT_TRUE(factorize(view, RootRule::kSingle, family, f, workspace).ok());
      EXPECT_EQ(f.family(), family);
      EXPECT_EQ(log_partition(f), log_partition(factorize(view, RootRule::kSingle, family)));
    }
  }
}

}  // namespace
}  // namespace taproot
