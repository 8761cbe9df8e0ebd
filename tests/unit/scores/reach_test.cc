// SPDX-License-Identifier: Apache-2.0
#include "scores/reach.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "scores/score_table.h"
#include "testing/oracle.h"

namespace taproot::detail {
namespace {

using oracle::Problem;
using oracle::Root;

constexpr std::uint8_t kUntouched = 77;

RootRule rule(Root root) { return root == Root::kSingle ? RootRule::kSingle : RootRule::kMulti; }

std::size_t cell(int n, int head, int modifier) {
  return static_cast<std::size_t>(head) * (static_cast<std::size_t>(n) + 1) +
         static_cast<std::size_t>(modifier);
}

// Each edge allowed with probability `density`.
Problem random_graph(int n, double density, Stream& stream) {
  Problem problem{n, std::vector<double>(cell(n, n, n) + 1)};
  for (double& s : problem.scores) s = stream.uniform() < density ? 0.0 : -HUGE_VAL;
  return problem;
}

ScoreTable loaded(const Problem& problem, Root root) {
  ScoreTable table;
  EXPECT_TRUE(load_scores(ScoreView(problem.scores.data(), problem.n), rule(root), table).ok());
  return table;
}

struct Found {
  bool any;
  std::vector<std::uint8_t> last;
};

Found last_words(const ScoreTable& table, ReachScratch& scratch) {
  Found found{false, std::vector<std::uint8_t>(static_cast<std::size_t>(table.n) + 2, kUntouched)};
  found.any = find_last_words(table, scratch, found.last.data());
  EXPECT_EQ(found.last.back(), kUntouched);
  return found;
}

// Both functions against the list of all trees. Returns whether there is a tree.
bool expect_agrees(const Problem& problem, Root root, ReachScratch& scratch) {
  const int n = problem.n;
  const auto trees = oracle::all_trees(problem, root);
  std::vector<bool> used(problem.scores.size(), false);
  for (const auto& [heads, probability] : trees) {
    for (int m = 1; m <= n; ++m) used[cell(n, heads[static_cast<std::size_t>(m - 1)], m)] = true;
  }
  const ScoreTable table = loaded(problem, root);
  const Found found = last_words(table, scratch);
  EXPECT_EQ(found.any, !trees.empty());
  if (trees.empty()) return false;
  std::vector<std::uint8_t> supported(static_cast<std::size_t>(n) + 2, kUntouched);
  for (int m = 1; m <= n; ++m) {
    // Single-root: last words are the roots that occur. Multi-root: any.
    const bool may_be_last = root == Root::kMulti || used[cell(n, 0, m)];
    EXPECT_EQ(found.last[static_cast<std::size_t>(m)], may_be_last ? 1 : 0) << "word " << m;
    find_supported_heads(table, found.last.data(), m, scratch, supported.data());
    EXPECT_EQ(supported.back(), kUntouched);
    for (int h = 0; h <= n; ++h) {
      EXPECT_EQ(supported[static_cast<std::size_t>(h)], used[cell(n, h, m)] ? 1 : 0)
          << h << " -> " << m;
    }
  }
  return true;
}

TEST(Reach, AgreesWithAllTreesOnRandomGraphs) {
  Stream stream(stream_key(1, 0), 0, Purpose::kTree);
  ReachScratch scratch;  // One for all, as in a batch.
  int feasible = 0;
  int infeasible = 0;
  for (int round = 0; round < 1500; ++round) {
    const int n = 1 + round % 5;
    const Problem problem = random_graph(n, 0.15 + 0.6 * stream.uniform(), stream);
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      ++(expect_agrees(problem, root, scratch) ? feasible : infeasible);
      if (testing::Test::HasFailure()) FAIL() << "round " << round;
    }
  }
  // The graphs must ask both questions.
  EXPECT_GT(feasible, 500);
  EXPECT_GT(infeasible, 500);
}

// All 2^(n^2) of them: every shape there is.
TEST(Reach, AgreesWithAllTreesOnEveryGraphOfUpToThreeWords) {
  ReachScratch scratch;
  for (int n = 1; n <= 3; ++n) {
    for (unsigned graph = 0; graph < 1U << (n * n); ++graph) {
      Problem problem{n, std::vector<double>(cell(n, n, n) + 1, -HUGE_VAL)};
      unsigned edge = 0;
      for (int h = 0; h <= n; ++h) {
        for (int m = 1; m <= n; ++m) {
          if (h == m) continue;
          if ((graph >> edge++ & 1) != 0) problem.scores[cell(n, h, m)] = 0;
        }
      }
      ASSERT_EQ(edge, static_cast<unsigned>(n * n));
      for (const Root root : {Root::kSingle, Root::kMulti}) expect_agrees(problem, root, scratch);
      if (testing::Test::HasFailure()) FAIL() << "n = " << n << ", graph " << graph;
    }
  }
}

TEST(Reach, WithoutForbiddenEdgesEveryWordMayBeLast) {
  ReachScratch scratch;
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    const Problem problem{70, std::vector<double>(71 * 71, -1e15)};
    const Found found = last_words(loaded(problem, root), scratch);
    EXPECT_TRUE(found.any);
    for (std::size_t m = 1; m <= 70; ++m) EXPECT_EQ(found.last[m], 1);
  }
}

// A chain 0 -> n -> n-1 -> ... -> 1 has one tree; without ROOT's edge, or with it elsewhere, none.
TEST(Reach, FollowsALongChain) {
  constexpr int kN = 100;
  ReachScratch scratch;
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    Problem problem{kN, std::vector<double>(cell(kN, kN, kN) + 1, -HUGE_VAL)};
    for (int m = 1; m < kN; ++m) problem.scores[cell(kN, m + 1, m)] = 0;
    EXPECT_FALSE(last_words(loaded(problem, root), scratch).any);
    problem.scores[cell(kN, 0, kN - 1)] = 0;
    EXPECT_FALSE(last_words(loaded(problem, root), scratch).any);
    problem.scores[cell(kN, 0, kN)] = 0;
    const ScoreTable table = loaded(problem, root);
    const Found found = last_words(table, scratch);
    ASSERT_TRUE(found.any);
    std::vector<std::uint8_t> supported(kN + 1);
    for (int m = 1; m <= kN; ++m) {
      EXPECT_EQ(found.last[static_cast<std::size_t>(m)], root == Root::kMulti || m == kN ? 1 : 0);
      find_supported_heads(table, found.last.data(), m, scratch, supported.data());
      for (int h = 0; h <= kN; ++h) {
        // ROOT -> n-1 skips n, which then has ROOT for its head: two roots.
        const bool expected =
            h == (m < kN ? m + 1 : 0) || (root == Root::kMulti && h == 0 && m == kN - 1);
        EXPECT_EQ(supported[static_cast<std::size_t>(h)], expected ? 1 : 0) << h << " -> " << m;
      }
    }
  }
}

// Column 0 and the diagonal are no edges, whatever they hold.
TEST(Reach, IgnoresColumnZeroAndTheDiagonal) {
  ReachScratch scratch;
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    Problem problem{2, std::vector<double>(9, -HUGE_VAL)};
    problem.scores[cell(2, 0, 1)] = 0;  // Word 2 has no head,
    problem.scores[cell(2, 2, 2)] = 0;  // but for itself.
    problem.scores[cell(2, 2, 0)] = 0;
    problem.scores[cell(2, 0, 0)] = 0;
    EXPECT_FALSE(last_words(loaded(problem, root), scratch).any);
  }
}

}  // namespace
}  // namespace taproot::detail
