// SPDX-License-Identifier: Apache-2.0
//
// The best projective trees by rank, against enumeration and, on long sentences, against each
// other.
#include "decode/chart/chart_kbest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "property/check.h"
#include "taproot/decode.h"
#include "taproot/tree.h"
#include "testing/arborescence.h"
#include "testing/families.h"
#include "testing/projective.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr TreeFamily kProjective = TreeFamily::kProjective;

std::vector<std::pair<double, Tree>> ranked(const Problem& problem, Root root) {
  auto trees = oracle::ranked_trees(problem, root);
  std::erase_if(trees, [](const auto& tree) { return !oracle::is_projective(tree.second); });
  return trees;
}

// All ranks: every tree once, with the score that belongs to its rank.
void expect_ranks(const Problem& problem, Root root) {
  const auto exact = ranked(problem, root);
  const ScoreView view(problem.scores.data(), problem.n);
  KBestIterator trees;
  const Outcome outcome = trees.build(view, rule(root), kProjective);
  ASSERT_EQ(outcome.status, exact.empty() ? Status::kNoTree : Status::kOk);
  Tree heads(static_cast<std::size_t>(problem.n));
  double score = 0;
  std::set<Tree> seen;
  std::size_t rank = 0;
  for (; trees.next(heads, score); ++rank) {
    ASSERT_LT(rank, exact.size());
    // Sums of the oracle are rounded in every step; those of the library once.
    const double size = std::max(1.0, std::abs(exact[rank].first));
    ASSERT_NEAR(score, exact[rank].first, 1e-14 * size) << "rank " << rank;
    ASSERT_TRUE(is_projective(heads));
    ASSERT_TRUE(seen.insert(heads).second) << "rank " << rank;
    if (rank == 0) {
      EXPECT_EQ(argmax(view, rule(root), kProjective).heads, heads);
    }
  }
  EXPECT_EQ(rank, exact.size());
  if (exact.empty()) return;
  const ScoredTree best = argmax(view, rule(root), kProjective);
  EXPECT_NEAR(best.score, exact[0].first, 1e-14 * std::max(1.0, std::abs(exact[0].first)));
}

Problem rounded(Problem problem) {
  for (double& s : problem.scores) s = std::round(s);
  return problem;
}

TEST(ChartKBest, HasAllRanksOfEnumeration) {
  for (int n = 1; n <= 6; ++n) {
    for (std::uint64_t seed = 1; seed <= (n == 6 ? 2U : 8U); ++seed) {
      for (const Problem& problem :
           {oracle::gaussian(n, 2, seed), oracle::uniform(n), oracle::sparse(n, 0.35, seed),
            oracle::sparse(n, 0.6, seed + 50), rounded(oracle::gaussian(n, 1, seed)),
            oracle::masked(n, -1e9, seed), oracle::column_offsets(n, 1e8, seed),
            oracle::near_empty_columns(n, seed), oracle::heavy_tailed(n, seed)}) {
        for (const Root root : {Root::kSingle, Root::kMulti}) {
          SCOPED_TRACE(testing::Message() << "n = " << n << " seed " << seed << " " << name(root));
          expect_ranks(problem, root);
        }
      }
    }
  }
}

TEST(ChartKBest, HasAllRanksForEveryTarget) {
  for_each_target([] {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      expect_ranks(oracle::gaussian(5, 2, 9), root);
      expect_ranks(oracle::uniform(4), root);
    }
  });
}

// Scores that differ by less than a rounding of their sums: the order must be that of the exact
// sums, which integers of the tiny parts give.
TEST(ChartKBest, IsExactWhereSumsRound) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const int n = 5;
    const Problem tiny = rounded(oracle::gaussian(n, 2, seed));
    const Problem large = rounded(oracle::gaussian(n, 1, seed + 100));
    Problem both = tiny;
    for (std::size_t i = 0; i < both.scores.size(); ++i) {
      both.scores[i] = large.scores[i] * 0x1p38 + tiny.scores[i] * 0x1p-12;
    }
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const auto value = [&](const Tree& heads, const Problem& problem) {
        double sum = 0;
        for (std::size_t m = 1; m <= heads.size(); ++m) {
          sum += problem.scores[static_cast<std::size_t>(heads[m - 1]) * (heads.size() + 1) + m];
        }
        return sum;
      };
      std::pair<double, double> last{HUGE_VAL, HUGE_VAL};
      const BestTrees trees =
          kbest(ScoreView(both.scores.data(), n), 2000, rule(root), kProjective);
      EXPECT_EQ(trees.size(), ranked(both, root).size());
      for (std::size_t i = 0; i < trees.size(); ++i) {
        const Tree heads(trees[i].begin(), trees[i].end());
        const std::pair<double, double> own{value(heads, large), value(heads, tiny)};
        ASSERT_LE(own, last) << "rank " << i;
        last = own;
      }
    }
  }
}

// A sum of three parts does not fit into two doubles, so trees are compared edge by edge.
TEST(ChartKBest, IsExactBeyondTwoDoubles) {
  const int n = 4;
  const Problem a = rounded(oracle::gaussian(n, 1, 1));
  const Problem b = rounded(oracle::gaussian(n, 1, 2));
  const Problem c = rounded(oracle::gaussian(n, 1, 3));
  Problem all = a;
  for (std::size_t i = 0; i < all.scores.size(); ++i) {
    // Different words carry different parts; a double holds two of them at most.
    const bool even = i % 2 == 0;
    all.scores[i] = even ? a.scores[i] * 0x1p45 + b.scores[i] : c.scores[i] * 0x1p-70;
    if (!std::isfinite(a.scores[i])) all.scores[i] = -HUGE_VAL;
  }
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    const BestTrees trees = kbest(ScoreView(all.scores.data(), n), 2000, rule(root), kProjective);
    EXPECT_EQ(trees.size(), ranked(all, root).size());
    std::vector<double> last{HUGE_VAL, 0, 0};
    for (std::size_t t = 0; t < trees.size(); ++t) {
      std::vector<double> own(3, 0.0);
      for (std::size_t m = 1; m <= 4; ++m) {
        const std::size_t i = static_cast<std::size_t>(trees[t][m - 1]) * 5 + m;
        if (i % 2 == 0) {
          own[0] += a.scores[i];
          own[1] += b.scores[i];
        } else {
          own[2] += c.scores[i];
        }
      }
      ASSERT_LE(own, last) << "rank " << t;
      last = own;
    }
  }
}

TEST(ChartKBest, IsConsistentOnLongSentences) {
  for (const int n : {25, 60}) {
    for (const Problem& problem : {oracle::gaussian(n, 2, 7), oracle::uniform(n),
                                   oracle::masked(n, -1e9, 8), oracle::attractor_pairs(n, 30, 9)}) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        const ScoreView view(problem.scores.data(), n);
        const BestTrees trees = kbest(view, 300, rule(root), kProjective);
        ASSERT_EQ(trees.size(), 300U);
        std::set<Tree> distinct;
        for (std::size_t i = 0; i < trees.size(); ++i) {
          EXPECT_TRUE(is_tree(trees[i], rule(root)) && is_projective(trees[i]));
          EXPECT_TRUE(distinct.emplace(trees[i].begin(), trees[i].end()).second);
          if (i > 0) {
            EXPECT_LE(trees.score[i], trees.score[i - 1]);
          }
        }
        const ScoredTree best = argmax(view, rule(root), kProjective);
        EXPECT_TRUE(std::equal(best.heads.begin(), best.heads.end(), trees[0].begin()));
        EXPECT_EQ(best.score, trees.score[0]);
        // No projective tree beats the best of all; no sample beats the best projective tree.
        EXPECT_LE(best.score, argmax(view, rule(root)).score);
      }
    }
  }
}

TEST(ChartKBest, MbrIsTheBestTreeOfTheMarginals) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Problem problem =
        seed % 2 == 0 ? oracle::gaussian(5, 2, seed) : oracle::sparse(5, 0.6, seed);
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const Factorization f = factored(problem, root, kProjective);
      if (!f.outcome().ok()) continue;
      const Tree tree = mbr(f);
      EXPECT_TRUE(is_projective(tree) && is_tree(tree, rule(root)));
      double best = 0;
      for (const auto& [heads, p] : oracle::projective_trees(problem, root)) {
        best = std::max(best, expected_attachment(f, heads));
      }
      EXPECT_NEAR(expected_attachment(f, tree), best, 1e-12);
    }
  }
}

TEST(ChartKBest, ReportsBadSentences) {
  std::vector<double> scores(16, 0.0);
  scores[4 + 2] = NAN;
  Tree heads(3);
  Workspace workspace;
  EXPECT_EQ(argmax(ScoreView(scores.data(), 3), RootRule::kSingle, kProjective, heads, nullptr,
                   workspace),
            (Outcome{Status::kBadScore, 1, 2}));
  KBestIterator trees;
  EXPECT_EQ(trees.build(ScoreView(scores.data(), 3), RootRule::kSingle, kProjective),
            (Outcome{Status::kBadScore, 1, 2}));
  double score = 0;
  EXPECT_FALSE(trees.next(heads, score));
  EXPECT_EQ(trees.build(ScoreView(scores.data(), 0), RootRule::kSingle, kProjective),
            Outcome{Status::kEmpty});
}

}  // namespace
}  // namespace taproot
