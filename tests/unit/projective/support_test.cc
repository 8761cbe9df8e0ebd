// SPDX-License-Identifier: Apache-2.0
#include "projective/support.h"

#include <gtest/gtest.h>

#include <set>

#include "projective/counting.h"
#include "testing/families.h"
#include "testing/projective.h"

namespace taproot::detail {
namespace {

TEST(Support, IsWhatEnumerationFinds) {
  ProjectiveScratch scratch;
  int without = 0;
  int all_projective = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const int n = 1 + static_cast<int>(seed % 6);
    const oracle::Problem problem = oracle::sparse(n, 0.35, seed);
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      const auto rule = root == RootRule::kSingle ? oracle::Root::kSingle : oracle::Root::kMulti;
      ScoreTable table;
      ASSERT_TRUE(load_scores(ScoreView(problem.scores.data(), n), root, table).ok());
      const auto trees = oracle::projective_trees(problem, rule);
      EXPECT_EQ(has_projective_tree(table, scratch), !trees.empty());
      without += trees.empty() ? 1 : 0;
      std::set<std::pair<int, int>> edges;
      for (const auto& [heads, p] : trees) {
        for (int m = 1; m <= n; ++m) edges.insert({heads[static_cast<std::size_t>(m - 1)], m});
      }
      std::vector<std::uint8_t> supported(table.nodes() * table.nodes(), 9);
      find_projective_support(table, scratch, supported.data());
      for (int h = 0; h <= n; ++h) {
        for (int m = 0; m <= n; ++m) {
          EXPECT_EQ(MatrixView(supported.data(), table.nodes())(h, m), edges.count({h, m}))
              << "seed " << seed << ": " << h << " -> " << m;
        }
      }
      const bool all = oracle::all_trees(problem, rule).size() == trees.size();
      all_projective += all && !trees.empty() ? 1 : 0;
      EXPECT_EQ(all_trees_are_projective(table), all) << "seed " << seed;
    }
  }
  EXPECT_GT(without, 50);
  EXPECT_GT(all_projective, 20);
}

}  // namespace
}  // namespace taproot::detail
