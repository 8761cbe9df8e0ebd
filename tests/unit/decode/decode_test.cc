// SPDX-License-Identifier: Apache-2.0
//
// Best trees against enumeration and against an independent contraction.
#include "taproot/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "property/check.h"
#include "taproot/constraints.h"
#include "testing/arborescence.h"
#include "testing/families.h"
#include "testing/linear_congruential.h"
#include "testing/misuse.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

using Random = LinearCongruential;

// Scores whose sums and differences are exact in double: small integers (many ties), multiples of
// 2^-10, the same with masks.
Problem exact_problem(int n, int kind, double density, Random& random) {
  Problem problem{n, std::vector<double>(static_cast<std::size_t>((n + 1) * (n + 1)), -HUGE_VAL)};
  for (double& s : problem.scores) {
    if (static_cast<double>(random.below(1000)) >= 1000 * density) continue;
    const double fine = std::ldexp(static_cast<double>(random.below(20000)) - 10000, -10);
    switch (kind) {
      case 0:
        s = static_cast<double>(random.below(3));
        break;
      case 1:
        s = fine;
        break;
      case 2:
        s = random.below(3) == 0 ? -1e9 : fine;
        break;
      default:
        s = random.below(4) == 0 ? -1e12 : static_cast<double>(random.below(7));
    }
  }
  return problem;
}

double score_of(const Problem& problem, TreeView heads) {
  return score(ScoreView(problem.scores.data(), problem.n), heads);
}

void expect_ranked(const Problem& problem, Root root) {
  const auto ranked = oracle::ranked_trees(problem, root);
  const ScoreView view(problem.scores.data(), problem.n);
  KBestIterator best;
  const Outcome outcome = best.build(view, rule(root));
  ASSERT_EQ(outcome.status, ranked.empty() ? Status::kNoTree : Status::kOk);
  Tree heads(static_cast<std::size_t>(problem.n));
  Workspace workspace;
  ASSERT_EQ(argmax(view, rule(root), heads, nullptr, workspace), outcome);
  if (ranked.empty()) return;
  const Tree first = heads;
  std::set<Tree> seen;
  double given = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    ASSERT_TRUE(best.next(heads, given)) << i << " of " << ranked.size();
    if (i == 0) {
      EXPECT_EQ(heads, first);
    }
    ASSERT_EQ(given, ranked[i].first) << "rank " << i;
    EXPECT_EQ(given, score_of(problem, heads));
    EXPECT_TRUE(is_tree(heads, rule(root)));
    EXPECT_TRUE(seen.insert(heads).second);
  }
  EXPECT_FALSE(best.next(heads, given));
  EXPECT_FALSE(best.next(heads, given));
}

TEST(KBestIterator, IsTheEnumerationInOrderTiesIncluded) {
  Random random(1);
  for (int repetition = 0; repetition < 1200; ++repetition) {
    const int n = 1 + static_cast<int>(random.below(repetition % 10 == 0 ? 6 : 5));
    const Problem problem =
        exact_problem(n, repetition % 4, random.below(3) == 0 ? 0.6 : 1.0, random);
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      SCOPED_TRACE(testing::Message() << repetition << " " << name(root));
      expect_ranked(problem, root);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(KBestIterator, AgreesWithLogProb) {
  const Problem problem = oracle::gaussian(5, 2, 3);
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    const Factorization f = factored(problem, root);
    const auto trees = kbest(ScoreView(problem.scores.data(), 5), 1 << 20, rule(root));
    double sum = 0;
    double last = HUGE_VAL;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      EXPECT_NEAR(trees.score[i] - log_partition(f), log_prob(f, trees[i]), 1e-12);
      EXPECT_LE(trees.score[i], last);
      last = trees.score[i];
      sum += std::exp(log_prob(f, trees[i]));
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_EQ(trees.size(), oracle::all_trees(problem, root).size());
  }
}

TEST(Argmax, EqualsAnIndependentContraction) {
  Random random(2);
  for (int n = 10; n <= 60; n += 5) {
    for (int kind = 0; kind < 4; ++kind) {
      for (const double density : {1.0, 0.3}) {
        const Problem problem = exact_problem(n, kind, density, random);
        for (const Root root : {Root::kSingle, Root::kMulti}) {
          const oracle::BestTree expected = oracle::best_tree(problem, root);
          Tree heads(static_cast<std::size_t>(n));
          for_each_target([&] {
            Workspace workspace;
            double given = 0;
            const Outcome outcome =
                argmax(ScoreView(problem.scores.data(), n), rule(root), heads, &given, workspace);
            ASSERT_EQ(outcome.ok(), expected.feasible);
            if (!outcome.ok()) return;
            EXPECT_TRUE(is_tree(heads, rule(root)));
            EXPECT_EQ(given, expected.score);
            EXPECT_EQ(score_of(problem, heads), expected.score);
          });
        }
      }
    }
  }
}

// The best of k is the best, the next ones are not better; on scores that round.
TEST(KBestIterator, IsSortedOnLongSentences) {
  for (const int n : {20, 50}) {
    for (const Problem& problem : {oracle::gaussian(n, 3, 1), oracle::rings(n, 3, 10, 2),
                                   oracle::uniform(n), oracle::masked(n, -1e9, 3)}) {
      for (const Root root : {Root::kSingle, Root::kMulti}) {
        const ScoreView view(problem.scores.data(), n);
        const auto trees = kbest(view, 60, rule(root));
        EXPECT_EQ(trees.size(), 60U);
        std::set<Tree> seen;
        for (std::size_t i = 0; i < trees.size(); ++i) {
          EXPECT_TRUE(is_tree(trees[i], rule(root)));
          EXPECT_TRUE(seen.emplace(trees[i].begin(), trees[i].end()).second);
          EXPECT_LE(trees.score[i], trees.score[i == 0 ? 0 : i - 1]);
        }
        EXPECT_EQ(argmax(view, rule(root)).heads, Tree(trees[0].begin(), trees[0].end()));
      }
    }
  }
}

// All ROOT edges share a mask that swallows the digits of every other score, in float32 even all of
// them, so the rest decides.
TEST(Argmax, IsNotBlurredByMasks) {
  for (const float mask : {-1e9F, -9e14F, 9e14F}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Problem problem = oracle::rounded_to_float(oracle::gaussian(6, 1, seed));
      std::vector<float> narrow(problem.scores.begin(), problem.scores.end());
      for (std::size_t m = 1; m <= 6; ++m) {
        problem.scores[m] = 0;
        narrow[m] = mask;
      }
      const oracle::BestTree expected = oracle::best_tree(problem, Root::kSingle);
      const ScoredTree found = argmax(ScoreView(narrow.data(), 6), RootRule::kSingle);
      EXPECT_EQ(found.heads, expected.heads) << mask << " " << seed;
      const auto trees = kbest(ScoreView(narrow.data(), 6), 50, RootRule::kSingle);
      const auto ranked = oracle::ranked_trees(problem, Root::kSingle);
      for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_NEAR(score_of(problem, trees[i]), ranked[i].first, 1e-12) << i;
      }
    }
  }
  // Every edge of a column is masked, by the same value: as if it were 0.
  Problem problem = oracle::rounded_to_float(oracle::gaussian(5, 1, 9));
  std::vector<float> narrow(problem.scores.begin(), problem.scores.end());
  for (std::size_t h = 0; h <= 5; ++h) {
    problem.scores[h * 6 + 2] = 0;
    narrow[h * 6 + 2] = -9e14F;
  }
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    EXPECT_EQ(score_of(problem, argmax(ScoreView(narrow.data(), 5), rule(root)).heads),
              oracle::ranked_trees(problem, root)[0].first);
  }
}

// A chain whose scores ascend by orders of magnitude: their sum has as many parts as words.
TEST(Argmax, SumsScoresOfAnyRange) {
  const int n = 100;
  std::vector<double> scores(101 * 101, -HUGE_VAL);
  Tree chain;
  for (int m = 1; m <= n; ++m) {
    const double mantissa = 1 + (m * 7919) % 8388608 * 0x1p-23;
    scores[static_cast<std::size_t>((m - 1) * 101 + m)] = std::ldexp(mantissa, 10 * m - 952);
    chain.push_back(m - 1);
  }
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    EXPECT_EQ(argmax(ScoreView(scores.data(), n), root).heads, chain);
    EXPECT_EQ(kbest(ScoreView(scores.data(), n), 3, root).size(), 1U);
  }
}

// Entries that are exact though the costs that they were made with needed more than two doubles: a
// tie that must be broken by the edges' numbers, whatever the words are called.
TEST(Argmax, BreaksTiesTheSameWayWhateverTheMagnitudes) {
  const double unit = 0x1p-62;
  const double big = 0x1p58 * unit;
  const double huge = 0x1p110 * unit;
  const double far = 0x1p56 * unit;
  const int a = 1;
  const int b = 6;
  const int b2 = 2;
  const int c = 3;
  const int d = 5;
  const int g = 7;
  const int e = 4;
  Problem problem{7, std::vector<double>(64, -HUGE_VAL)};
  const auto set = [&](int h, int m, double s) {
    problem.scores[static_cast<std::size_t>(h * 8 + m)] = s;
  };
  set(a, b, big);
  set(b, b2, big);
  set(b2, a, big);
  set(d, c, big);
  set(c, d, huge + big);
  set(c, a, 16 * unit);
  set(a, c, far + 16 * unit);
  set(g, a, 8 * unit);
  set(a, g, 0);
  set(e, d, huge);
  set(a, e, -far + 0x1p20 * unit);
  set(0, e, -far + 0x1p20 * unit);
  set(0, a, -far);
  const auto trees = kbest(ScoreView(problem.scores.data(), 7), 2, RootRule::kMulti);
  EXPECT_EQ(Tree(trees[0].begin(), trees[0].end()),
            argmax(ScoreView(problem.scores.data(), 7), RootRule::kMulti).heads);
  EXPECT_EQ(trees.score[0], trees.score[1]);
}

// The same scores have the same outcome, whatever is asked of them.
TEST(Argmax, TakesTheScoresThatQueriesTake) {
  constexpr double kBeyond = 1.0000000000000002e15;
  static_assert(kBeyond > kMaxScore);
  for (const double score : {0.0, kMaxScore, -kMaxScore, kBeyond, -kBeyond, 1e32, -1e32, 1e300,
                             -1.7976931348623157e308, HUGE_VAL, -HUGE_VAL, double{NAN}}) {
    for (const std::size_t cell : {1U, 6U, 11U, 18U, 23U}) {
      std::vector<double> scores(25, 0.0);
      scores[cell] = score;
      const std::vector<float> narrow(scores.begin(), scores.end());
      for (const ScoreView& view : {ScoreView(scores.data(), 4), ScoreView(narrow.data(), 4)}) {
        for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
          const Outcome expected = eliminate(view, root).outcome();
          Workspace workspace;
          Tree heads(4);
          EXPECT_EQ(argmax(view, root, heads, nullptr, workspace), expected)
              << score << " at " << cell;
          EXPECT_EQ(KBestIterator().build(view, root), expected) << score << " at " << cell;
        }
      }
    }
  }
}

TEST(Argmax, ReportsWhatItCannotServe) {
  Workspace workspace;
  Tree heads(3, 77);
  std::vector<double> scores(16, 0.0);
  scores[1 * 4 + 1] = NAN;  // The diagonal and column 0 are ignored.
  scores[2 * 4] = HUGE_VAL;
  EXPECT_TRUE(
      argmax(ScoreView(scores.data(), 3), RootRule::kSingle, heads, nullptr, workspace).ok());
  scores[2 * 4 + 3] = NAN;
  const Outcome bad =
      argmax(ScoreView(scores.data(), 3), RootRule::kSingle, heads, nullptr, workspace);
  EXPECT_EQ(bad, (Outcome{Status::kBadScore, 2, 3}));
  EXPECT_EQ(argmax(ScoreView(scores.data(), 0), RootRule::kMulti, std::span(heads).first(0),
                   nullptr, workspace)
                .status,
            Status::kEmpty);
  const std::vector<double> none(16, -HUGE_VAL);
  EXPECT_EQ(argmax(ScoreView(none.data(), 3), RootRule::kMulti, heads, nullptr, workspace).status,
            Status::kNoTree);
  expect_sentence_error(Status::kNoTree, [&] { argmax(ScoreView(none.data(), 3)); });
  expect_sentence_error(Status::kNoTree, [&] { kbest(ScoreView(none.data(), 3), 2); });
  expect_misuse("argmax", [&] {
    argmax(ScoreView(scores.data(), 3), RootRule::kMulti, std::span(heads).first(2), nullptr,
           workspace);
  });
  // Two words, each of which only ROOT leads to: a tree of two roots.
  const double x = -HUGE_VAL;
  const std::vector<double> two_roots{x, 1, 1, x, x, x, x, x, x};
  heads.resize(2);
  EXPECT_EQ(
      argmax(ScoreView(two_roots.data(), 2), RootRule::kSingle, heads, nullptr, workspace).status,
      Status::kNoTree);
  EXPECT_EQ(argmax(ScoreView(two_roots.data(), 2), RootRule::kMulti).heads, (Tree{0, 0}));
}

TEST(Argmax, ReadsAnyStridesAndFloats) {
  Random random(5);
  const int n = 13;
  const Problem problem = oracle::rounded_to_float(exact_problem(n, 1, 0.8, random));
  const std::vector<float> narrow(problem.scores.begin(), problem.scores.end());
  std::vector<double> transposed(problem.scores.size());
  for (std::size_t h = 0; h <= 13; ++h) {
    for (std::size_t m = 0; m <= 13; ++m) transposed[m * 14 + h] = problem.scores[h * 14 + m];
  }
  const Tree expected = argmax(ScoreView(problem.scores.data(), n)).heads;
  EXPECT_EQ(argmax(ScoreView(narrow.data(), n)).heads, expected);
  EXPECT_EQ(argmax(ScoreView(transposed.data(), n, 1, 14)).heads, expected);
}

TEST(Mbr, MaximizesTheExpectedNumberOfRightHeads) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Problem problem =
        seed % 3 == 0 ? oracle::near_empty_columns(5, seed) : oracle::gaussian(5, 1.5, seed);
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const Factorization f = factored(problem, root);
      const auto trees = oracle::all_trees(problem, root);
      // By enumeration: the expected share of the words on which a tree agrees with a drawn one.
      const auto expected = [&](const Tree& tree) {
        double sum = 0;
        for (const auto& [other, p] : trees) {
          for (std::size_t i = 0; i < 5; ++i) sum += tree[i] == other[i] ? p / 5 : 0;
        }
        return sum;
      };
      double best = 0;
      for (const auto& [tree, p] : trees) best = std::max(best, expected(tree));
      const Tree found = mbr(f);
      EXPECT_TRUE(is_tree(found, rule(root)));
      EXPECT_GT(log_prob(f, found), -HUGE_VAL);
      EXPECT_NEAR(expected(found), best, 1e-13);
      EXPECT_NEAR(expected_attachment(f, found), best, 1e-13);
    }
  }
}

TEST(Evaluate, CountsRightHeadsAndLabels) {
  const Tree gold{2, 0, 2, -1};
  const Tree tree{2, 0, 1, 3};
  const std::vector<std::int32_t> labels{1, 2, 3, 4};
  const std::vector<std::int32_t> gold_labels{1, 5, 3, 4};
  Attachment sum = evaluate(tree, gold, labels, gold_labels);
  EXPECT_EQ(sum.words, 3U);
  EXPECT_EQ(sum.heads, 2U);
  EXPECT_EQ(sum.labels, 1U);
  EXPECT_EQ(sum.exact, 0U);
  sum += evaluate(gold, gold);
  EXPECT_EQ(sum.trees, 2U);
  EXPECT_EQ(sum.exact, 1U);
  EXPECT_DOUBLE_EQ(sum.uas(), 5.0 / 6);
  EXPECT_DOUBLE_EQ(sum.las(), 1.0 / 6);
  sum += evaluate(tree, Tree{-1, -1, -1, -1});  // No gold heads, nothing to count.
  EXPECT_EQ(sum.trees, 2U);
  EXPECT_EQ(sum.exact, 1U);
  EXPECT_EQ(Attachment().uas(), 0);
  expect_misuse("evaluate", [&] { evaluate(tree, TreeView(gold).first(3)); });
  expect_misuse("evaluate", [&] { evaluate(tree, gold, labels); });
}

TEST(ExpectedAttachment, LeavesOutWordsWithoutAHead) {
  const oracle::Problem problem = oracle::gaussian(3, 1, 5);
  const Factorization f = eliminate(ScoreView(problem.scores.data(), 3));
  const std::vector<double> p = marginals(f);
  EXPECT_NEAR(expected_attachment(f, Tree{2, 0, 1}), (p[2 * 4 + 1] + p[2] + p[4 + 3]) / 3, 1e-15);
  EXPECT_NEAR(expected_attachment(f, Tree{2, -1, -100}), p[2 * 4 + 1], 1e-15);
  EXPECT_TRUE(std::isnan(expected_attachment(f, Tree{-1, -1, -1})));
  expect_misuse("expected_attachment", [&] { expected_attachment(f, Tree{2, 0}); });
  expect_misuse("expected_attachment", [&] { expected_attachment(f, Tree{2, 0, 4}); });
}

}  // namespace
}  // namespace taproot
