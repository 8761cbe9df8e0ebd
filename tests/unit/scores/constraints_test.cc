// SPDX-License-Identifier: Apache-2.0
//
// Constraints hold for every operation: the law under them is the law given them.
#include "taproot/constraints.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "property/check.h"
#include "taproot/taproot.h"
#include "testing/arborescence.h"
#include "testing/families.h"
#include "testing/misuse.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

struct Case {
  Constraints constraints;
  std::function<bool(const Tree&)> holds;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({Constraints(), [](const Tree&) { return true; }});
  all.push_back({Constraints().force(2, 4), [](const Tree& t) { return t[3] == 2; }});
  all.push_back({Constraints().force(0, 3), [](const Tree& t) { return t[2] == 0; }});
  all.push_back({Constraints().forbid(2, 4).forbid(0, 1),
                 [](const Tree& t) { return t[3] != 2 && t[0] != 0; }});
  const std::vector<std::int32_t> roots{2, 5};
  all.push_back({Constraints().allow_roots(roots),
                 [](const Tree& t) { return t[0] != 0 && t[2] != 0 && t[3] != 0; }});
  all.push_back({Constraints().force_partial_tree(Tree{-1, 1, -1, 5, -1}),
                 [](const Tree& t) { return t[1] == 1 && t[3] == 5; }});
  all.push_back({Constraints().force(1, 2).force(3, 2), [](const Tree&) { return false; }});
  all.push_back({Constraints().force(1, 2).force(2, 1), [](const Tree&) { return false; }});
  all.push_back({Constraints().allow_roots({}), [](const Tree&) { return false; }});
  // Constraints accumulate: what two calls say holds for both.
  const std::vector<std::int32_t> other_roots{1, 3, 5};
  const auto only_5 = [](const Tree& t) {
    return t[0] != 0 && t[1] != 0 && t[2] != 0 && t[3] != 0;
  };
  all.push_back({Constraints().allow_roots(roots).allow_roots(other_roots), only_5});
  all.push_back({Constraints().allow_roots(other_roots).allow_roots(roots), only_5});
  all.push_back({Constraints().allow_roots(roots).allow_roots(roots),
                 [](const Tree& t) { return t[0] != 0 && t[2] != 0 && t[3] != 0; }});
  all.push_back(
      {Constraints().allow_roots({}).allow_roots(roots), [](const Tree&) { return false; }});
  all.push_back({Constraints()
                     .force_partial_tree(Tree{-1, 1, -1, -1, -1})
                     .force_partial_tree(Tree{-1, -1, -1, 5, -1}),
                 [](const Tree& t) { return t[1] == 1 && t[3] == 5; }});
  return all;
}

TEST(Constraints, HoldForEveryOperation) {
  const Problem problem = oracle::gaussian(5, 1.5, 3);
  const ScoreView view(problem.scores.data(), 5);
  for (const Root root : {Root::kSingle, Root::kMulti}) {
    const auto trees = oracle::all_trees(problem, root);
    for (const auto& [constraints, holds] : cases()) {
      std::vector<double> memory;
      const ScoreView masked = constraints.apply(view, memory);
      const Factorization f = eliminate(masked, rule(root));
      double mass = 0;
      std::vector<double> edges(36, 0.0);
      Tree best;
      double top = -HUGE_VAL;
      std::size_t count = 0;
      for (const auto& [tree, p] : trees) {
        if (!holds(tree)) continue;
        ++count;
        mass += p;
        for (std::size_t m = 1; m <= 5; ++m) {
          edges[static_cast<std::size_t>(tree[m - 1]) * 6 + m] += p;
        }
        if (score(view, tree) > top) {
          top = score(view, tree);
          best = tree;
        }
      }
      Tree heads(5);
      Workspace workspace;
      const Outcome decoded = argmax(masked, rule(root), heads, nullptr, workspace);
      if (count == 0) {
        EXPECT_EQ(f.outcome().status, Status::kNoTree);
        EXPECT_EQ(decoded.status, Status::kNoTree);
        continue;
      }
      EXPECT_EQ(heads, best);
      EXPECT_NEAR(log_partition(f), log_partition(factored(problem, root)) + std::log(mass), 1e-12);
      const std::vector<double> p = marginals(f);
      for (std::size_t i = 0; i < 36; ++i) EXPECT_NEAR(p[i], edges[i] / mass, 1e-13);
      for (const Tree& tree : sample(f, 50)) EXPECT_TRUE(holds(tree));
      EXPECT_EQ(sample_without_replacement(f, 1 << 20).size(), count);
      EXPECT_EQ(kbest(masked, 1 << 20, rule(root)).size(), count);
      EXPECT_TRUE(holds(mbr(f)));
    }
  }
}

TEST(Constraints, RefuseWhatIsNotAnEdge) {
  Constraints constraints;
  expect_misuse("Constraints::force", [&] { constraints.force(-1, 2); });
  expect_misuse("Constraints::force", [&] { constraints.force(2, 2); });
  expect_misuse("Constraints::forbid", [&] { constraints.forbid(1, 0); });
  const std::vector<std::int32_t> roots{0};
  expect_misuse("Constraints::allow_roots", [&] { constraints.allow_roots(roots); });
  EXPECT_TRUE(constraints.empty());
  constraints.force(1, 4);
  EXPECT_FALSE(constraints.empty());
  EXPECT_TRUE(constraints.fits(4));
  EXPECT_FALSE(constraints.fits(3));
  EXPECT_FALSE(Constraints().force_partial_tree(Tree{-1, -1}).fits(3));
  // A word that only the first of two calls names must be there, too.
  const std::vector<std::int32_t> first{1, 4};
  const std::vector<std::int32_t> second{1};
  EXPECT_FALSE(Constraints().allow_roots(first).allow_roots(second).fits(3));
  EXPECT_FALSE(Constraints().allow_roots(second).allow_roots(first).fits(3));
  expect_misuse("Constraints::force_partial_tree", [&] {
    Constraints().force_partial_tree(Tree{-1, -1}).force_partial_tree(Tree{-1, -1, -1});
  });
  const Problem problem = oracle::uniform(3);
  std::vector<double> memory;
  expect_misuse("Constraints::apply",
                [&] { constraints.apply(ScoreView(problem.scores.data(), 3), memory); });
}

}  // namespace
}  // namespace taproot
