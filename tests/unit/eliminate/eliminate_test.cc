// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "eliminate/factor_data.h"
#include "property/check.h"
#include "testing/families.h"
#include "testing/misuse.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr double kForbidden = -HUGE_VAL;

TEST(Eliminate, EmptySentenceIsAStatus) {
  const double unused = 0;
  EXPECT_EQ(eliminate(ScoreView(&unused, 0)).outcome().status, Status::kEmpty);
}

TEST(Eliminate, AFreshFactorizationAnswersNothing) {
  const Factorization f;
  EXPECT_FALSE(f.outcome().ok());
  expect_sentence_error(Status::kEmpty, [&] { log_partition(f); });
}

TEST(Eliminate, BadScoreNamesTheCell) {
  Problem problem = oracle::gaussian(6, 1, 1);
  problem.scores[3 * 7 + 5] = std::nan("");
  const Factorization f = factored(problem, Root::kSingle);
  EXPECT_EQ(f.outcome(), (Outcome{Status::kBadScore, 3, 5}));
  EXPECT_EQ(describe(f.outcome(), 12).substr(0, 50),
            "sentence 12: the score of head 3 -> modifier 5 is ");
}

// A large sentence, then a small one, then one without a tree, in the same memory.
TEST(Eliminate, MemoryIsReusedWithoutTraces) {
  Factorization f;
  Workspace workspace;
  for (const int n : {60, 3, 25, 1, 8}) {
    const Problem problem = oracle::gaussian(n, 3, static_cast<std::uint64_t>(n));
    for (const Root root : {Root::kMulti, Root::kSingle}) {
      const ScoreView view(problem.scores.data(), n);
      ASSERT_TRUE(eliminate(view, rule(root), f, workspace).ok());
      const Factorization fresh = factored(problem, root);
      EXPECT_EQ(log_partition(f), log_partition(fresh));
      std::vector<double> p(problem.scores.size());
      marginals(f, {p.data(), n + 1}, workspace);
      EXPECT_EQ(p, marginals(fresh));
    }
    const std::vector<double> nothing(problem.scores.size(), kForbidden);
    EXPECT_EQ(eliminate(ScoreView(nothing.data(), n), RootRule::kSingle, f, workspace).status,
              Status::kNoTree);
    expect_sentence_error(Status::kNoTree, [&] { marginals(f); });
  }
}

TEST(Eliminate, KeepsItsOwnScores) {
  Problem problem = oracle::gaussian(7, 1, 3);
  const Factorization f = factored(problem, Root::kSingle);
  const double before = entropy(f);
  std::fill(problem.scores.begin(), problem.scores.end(), std::nan(""));
  EXPECT_EQ(entropy(f), before);
}

// The order: a permutation whose last word may be the root, the others by ascending share.
TEST(Eliminate, LeavesGoFirst) {
  // Word 2 heads everything, 4 and 5 nothing; 1 and 3 a little. Only 3 may be the root.
  const int n = 5;
  std::vector<double> scores(36, -8.0);
  const auto score = [&](int h, int m) -> double& {
    return scores[static_cast<std::size_t>(h * 6 + m)];
  };
  for (int m = 1; m <= n; ++m) {
    score(0, m) = m == 3 ? 0.0 : kForbidden;
    score(2, m) = 2;
    score(4, m) = -20;
    score(5, m) = -21;
  }
  const Factorization f = eliminate(ScoreView(scores.data(), n));
  const auto& data = detail::Access::data(f);
  const std::vector<std::int32_t> order(data.order.data(), data.order.data() + n + 1);
  EXPECT_EQ(order[0], 0);
  EXPECT_EQ(order[1], 3);
  EXPECT_EQ(order[2], 2);
  EXPECT_EQ(order[3], 1);
  EXPECT_EQ(order[4], 4);
  EXPECT_EQ(order[5], 5);
  for (int p = 0; p <= n; ++p) {
    EXPECT_EQ(data.position[static_cast<std::size_t>(order[static_cast<std::size_t>(p)])], p);
  }
}

// All pivots of this graph are above 2^-867 in double, and yet its log-partition would be 500 off:
// what underflows on the way is multiplied up again. A test on the pivots alone misses it.
Problem underflow_behind_good_pivots() {
  const double x = kForbidden;
  return {5, {x, x,     x,    -1200, x,     -700,  //
              x, x,     -500, -900,  -200,  x,     //
              x, -1100, x,    0,     x,     -500,  //
              x, -600,  x,    x,     -1000, x,     //
              x, 0,     0,    -500,  x,     -500,  //
              x, -700,  x,    -600,  -1200, x}};
}

// Ties go by index. With zero scores and n - 1 a power of two, the keys are 1 without rounding.
TEST(Eliminate, WordsWithEqualSharesGoByIndex) {
  for_each_target([] {
    for (const int n : {1, 2, 3, 5, 9, 17, 33, 65, 129, 257}) {
      const Factorization f = factored(oracle::uniform(n), Root::kSingle);
      const detail::FactorData& data = detail::Access::data(f);
      EXPECT_EQ(data.order[1], 1);
      for (int p = 2; p <= n; ++p) ASSERT_EQ(data.order[p], n + 2 - p) << n;
      for (int p = 0; p <= n; ++p) ASSERT_EQ(data.position[data.order[p]], p) << n;
    }
  });
}

// Words are counted or sorted, depending on n.
TEST(Eliminate, LeavesGoFirstAtEveryLength) {
  for_each_target([] {
    for (int n = 1; n <= 140; n += n < 40 ? 1 : 9) {
      const Problem problem = oracle::gaussian(n, 2, static_cast<std::uint64_t>(n));
      const Factorization f = factored(problem, Root::kMulti);
      const detail::FactorData& data = detail::Access::data(f);
      const detail::MatrixView weights(data.weights.data(), data.table.ld);
      std::vector<double> keys(static_cast<std::size_t>(n) + 1, 0.0);
      for (int m = 1; m <= n; ++m) {
        double sum = 0;
        for (int h = 0; h <= n; ++h) sum += weights(h, m);
        for (int h = 1; h <= n; ++h) keys[static_cast<std::size_t>(h)] += weights(h, m) / sum;
      }
      for (int p = 2; p <= n; ++p) {
        const auto before = static_cast<std::size_t>(data.order[p - 1]);
        const auto after = static_cast<std::size_t>(data.order[p]);
        ASSERT_GE(keys[before], keys[after] * (1 - 1e-12)) << n << " " << p;
        ASSERT_EQ(data.position[after], p);
      }
    }
  });
}

TEST(Eliminate, UnderflowBehindGoodPivotsIsSeen) {
  const Problem problem = underflow_behind_good_pivots();
  const Factorization f = factored(problem, Root::kSingle);
  const oracle::Answer exact = oracle::matrix_tree(problem, Root::kSingle);
  EXPECT_TRUE(f.is_wide());
  expect_exact(f, exact);
  // The premise: what plain double finds, from the factors that were given up.
  const auto& data = detail::Access::data(f);
  double log_z = data.table.total_scale * std::log(2.0);
  for (std::size_t k = 1; k <= 5; ++k) {
    EXPECT_GE(data.pivot[k], 0x1p-900);
    log_z += std::log(data.pivot[k]);
  }
  EXPECT_GT(std::abs(log_z - exact.log_partition), 400);
}

// Scores in bits of the edges that are allowed.
struct Edge {
  int head;
  int modifier;
  double bits;
};

Problem from_edges(int n, const std::vector<Edge>& edges) {
  const auto side = static_cast<std::size_t>(n) + 1;
  Problem problem{n, std::vector<double>(side * side, kForbidden)};
  for (const Edge& e : edges) {
    problem.scores[static_cast<std::size_t>(e.head) * side + static_cast<std::size_t>(e.modifier)] =
        e.bits * std::log(2.0);
  }
  return problem;
}

// Two low pivots side by side in one group, under a ROOT row that grows: the product of a weight
// and a sum that make up the second of them underflows unless the pivot divides first. The leaves
// fix the order.
TEST(Eliminate, PivotsAheadOfTheirRowsDoNotUnderflow) {
  std::vector<Edge> edges{{3, 1, 0}, {5, 1, -600}, {1, 3, 0}, {4, 2, 0}, {1, 2, -600}, {5, 2, -700},
                          {2, 4, 0}, {1, 5, 0},    {2, 5, 0}, {0, 1, 0}, {0, 5, 0}};
  for (int leaf = 6; leaf <= 8; ++leaf) edges.push_back({2, leaf, 0});
  for (int leaf = 9; leaf <= 14; ++leaf) edges.push_back({5, leaf, 0});
  const Problem problem = from_edges(14, edges);
  for_each_target([&] {
    const Factorization f = factored(problem, Root::kSingle);
    expect_exact(f, oracle::matrix_tree(problem, Root::kSingle));
    EXPECT_FALSE(f.is_wide());
  });
}

// A chain that is climbed at 2^-100 per word, with leaves that fix the order: the factors are exact
// in double, but the gradient of the forbidden ROOT edges is beyond it.
TEST(Eliminate, RootMarginalsOfWhatIsNotTame) {
  std::vector<Edge> edges{{0, 1, 0}};
  int next = 15;
  for (int m = 1; m < 14; ++m) {
    edges.push_back({m + 1, m, 0});
    edges.push_back({m, m + 1, -100});
    for (int i = 0; m >= 2 && m <= 12 && i < 14 - m; ++i) edges.push_back({m, next++, 0});
  }
  const Problem problem = from_edges(next - 1, edges);
  const Factorization f = factored(problem, Root::kSingle);
  EXPECT_FALSE(f.is_wide());
  EXPECT_FALSE(detail::Access::data(f).tame);
  const oracle::Answer exact = oracle::matrix_tree(problem, Root::kSingle);
  expect_exact(f, exact);
  EXPECT_EQ(expected_steps(f), exact.expected_steps);  // 2^1300: infinite.
}

TEST(Eliminate, StaysInDoubleWhereThatIsExact) {
  EXPECT_FALSE(factored(oracle::gaussian(40, 5, 1), Root::kSingle).is_wide());
  EXPECT_FALSE(factored(oracle::masked(30, -1e9, 1), Root::kSingle).is_wide());
  EXPECT_FALSE(factored(oracle::column_offsets(20, 1e8, 1), Root::kMulti).is_wide());
  // Fifty pairs, each costing 43 bits: far more together than double's range, but nothing
  // underflows.
  const Factorization pairs = factored(oracle::attractor_pairs(100, 30, 1), Root::kSingle);
  EXPECT_FALSE(pairs.is_wide());
  EXPECT_FALSE(detail::Access::data(pairs).tame);
  EXPECT_TRUE(factored(oracle::attractor_pairs(10, 900, 1), Root::kSingle).is_wide());
}

// Vectors of 4 and 8 lanes add in the same order and fuse the same products.
TEST(Eliminate, TargetsWithFusedMultiplyAddAgreeBitForBit) {
  std::vector<double> answers;
  for_each_target([&] {
    if ((hwy::SupportedTargets() & (HWY_AVX2 | HWY_AVX3 | HWY_NEON)) == 0) return;
    const Problem problem = oracle::gaussian(77, 4, 9);
    std::vector<double> all;
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const Factorization f = factored(problem, root);
      const std::vector<double> p = marginals(f);
      all.insert(all.end(), p.begin(), p.end());
      all.push_back(log_partition(f));
    }
    if (answers.empty()) answers = all;
    EXPECT_EQ(all, answers);
  });
}

}  // namespace
}  // namespace taproot
