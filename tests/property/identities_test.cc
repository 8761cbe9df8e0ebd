// SPDX-License-Identifier: Apache-2.0
//
// What holds of every distribution over trees, whatever computes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "property/check.h"
#include "property/everywhere.h"

namespace taproot {
namespace {

using oracle::Problem;
using oracle::Root;

class Identities : public Everywhere {};

// n^(n-1) single-root trees, (n+1)^(n-1) multi-root ones (Cayley), all equally probable.
TEST_P(Identities, CountsOfTreesAtZeroScores) {
  std::vector<Problem> problems;
  for (const int n : lengths({1, 2, 3, 4, 10, 31, 32, 50, 64, 100, 150, 200, 300, 500, 999}, 64)) {
    problems.push_back(oracle::uniform(n));
  }
  for (const RootRule root : kRules) {
    const Answers found = answers(problems, root);
    for (std::size_t b = 0; b < problems.size(); ++b) {
      const int n = problems[b].n;
      const double exact = (n - 1) * std::log(root == RootRule::kSingle ? n : n + 1);
      const double size = std::max(1.0, exact);
      EXPECT_NEAR(found.log_partition[b], exact, bound(1e-13, 1e-6) * size) << n;
      EXPECT_NEAR(found.entropy[b], exact, bound(1e-11, 1e-5) * size) << n;
    }
  }
}

TEST_P(Identities, EveryWordHasOneHead) {
  const std::vector<Problem> problems = mixed_problems();
  everywhere([&] {
    for (const RootRule root : kRules) {
      const Answers found = answers(problems, root);
      for (std::size_t b = 0; b < problems.size(); ++b) {
        if (!found.outcomes[b].ok()) continue;
        SCOPED_TRACE(testing::Message() << "problem " << b << " n " << problems[b].n);
        const auto side = static_cast<std::size_t>(problems[b].n) + 1;
        const std::vector<double>& p = found.marginals[b];
        double worst = 0;
        double roots = 0;
        for (std::size_t m = 0; m < side; ++m) {
          double sum = 0;
          for (std::size_t h = 0; h < side; ++h) {
            EXPECT_TRUE(p[h * side + m] >= 0);
            sum += p[h * side + m];
          }
          worst = std::max(worst, std::abs(sum - (m == 0 ? 0 : 1)));
          EXPECT_EQ(p[m * side + m], 0);
          roots += p[m];
        }
        if (root == RootRule::kSingle) worst = std::max(worst, std::abs(roots - 1));
        EXPECT_LE(worst, bound(2e-13, 1e-4));
      }
    }
  });
}

// d log Z / d S[h][m] = p(h -> m), by central differences with Richardson's extrapolation: all
// cells of a sentence in one batch.
TEST_P(Identities, MarginalsAreTheGradientOfLogPartition) {
  constexpr double kSteps[] = {1e-3, -1e-3, 2e-3, -2e-3};
  for (const int n : lengths({1, 2, 3, 6, 9}, 6)) {
    const Problem problem = oracle::gaussian(n, 1.5, static_cast<std::uint64_t>(n));
    std::vector<Problem> moved = {problem};
    std::vector<std::size_t> cells;
    for (int h = 0; h <= n; ++h) {
      for (int m = 1; m <= n; ++m) {
        if (h == m) continue;
        cells.push_back(static_cast<std::size_t>(h * (n + 1) + m));
        for (const double step : kSteps) {
          moved.push_back(problem);
          moved.back().scores[cells.back()] += step;
        }
      }
    }
    for (const RootRule root : kRules) {
      const Answers found = answers(moved, root);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const double* z = found.log_partition.data() + 1 + 4 * i;
        const double near = (z[0] - z[1]) / 2e-3;
        const double far = (z[2] - z[3]) / 4e-3;
        EXPECT_NEAR(found.marginals[0][cells[i]], (4 * near - far) / 3, bound(1e-11, 5e-3))
            << "n " << n;
      }
    }
  }
}

// Z = Z without an edge + Z with it: forbidden, or the only one into its word.
TEST_P(Identities, AnEdgeIsInOrOut) {
  for (const int n : lengths({2, 5, 30, 70}, 30)) {
    const Problem whole = oracle::gaussian(n, 2, static_cast<std::uint64_t>(n));
    const int m = n / 2 + 1;
    std::vector<Problem> problems = {whole};
    for (int h = 0; h <= n; ++h) {
      if (h == m) continue;
      Problem without = whole;
      Problem with = whole;
      for (int other = 0; other <= n; ++other) {
        const auto cell = static_cast<std::size_t>(other * (n + 1) + m);
        (other == h ? without : with).scores[cell] = -HUGE_VAL;
      }
      problems.push_back(without);
      problems.push_back(with);
    }
    for (const RootRule root : kRules) {
      const Answers found = answers(problems, root);
      const auto share = [&](std::size_t b) {
        return found.outcomes[b].ok() ? std::exp(found.log_partition[b] - found.log_partition[0])
                                      : 0.0;
      };
      std::size_t at = 1;
      for (int h = 0; h <= n; ++h) {
        if (h == m) continue;
        EXPECT_NEAR(share(at) + share(at + 1), 1, bound(1e-12, 1e-4)) << n;
        EXPECT_NEAR(found.marginals[0][static_cast<std::size_t>(h * (n + 1) + m)], share(at + 1),
                    bound(1e-12, 1e-4));
        at += 2;
      }
    }
  }
}

// Offsets of a column, and single-root of all ROOT edges, change log Z by themselves and nothing
// else, although they are so large that rounding one would show. Scores are multiples of 2^-20, so
// that the sums are exact.
TEST_P(Identities, OffsetsChangeLogPartitionAlone) {
  for (const int n : lengths({1, 2, 9, 40, 160}, 40)) {
    Problem plain = oracle::gaussian(n, 2, 3);
    for (double& s : plain.scores) s = std::nearbyint(s * 0x1p20) * 0x1p-20;
    std::vector<std::int32_t> chain(static_cast<std::size_t>(n));
    std::iota(chain.begin(), chain.end(), 0);
    for (const double offset : {-0x1p30, -0x1p14, 0x1p14, 0x1p30}) {
      Problem column = plain;
      Problem root_row = plain;
      for (int h = 0; h <= n; ++h) {
        column.scores[static_cast<std::size_t>(h * (n + 1) + n)] += offset;
      }
      for (int m = 1; m <= n; ++m) root_row.scores[static_cast<std::size_t>(m)] += offset;
      for (const RootRule root : kRules) {
        SCOPED_TRACE(testing::Message() << "n " << n << " offset " << offset);
        const std::vector<Problem> problems = {plain, column, root_row};
        const Answers found = answers(problems, root);
        for (const std::size_t b : {1U, 2U}) {
          if (b == 2 && root == RootRule::kMulti) continue;
          const double moved = found.log_partition[0] + offset;
          EXPECT_NEAR(found.log_partition[b], moved,
                      in_float() ? 1e-4 : 4 * 0x1p-52 * std::abs(moved));
          EXPECT_LE(largest_difference(found.marginals[b], found.marginals[0]),
                    bound(1e-14, 1e-6) * n);
          EXPECT_NEAR(found.entropy[b], found.entropy[0], bound(1e-12, 1e-4) * n);
          DependencyTrees one = trees_of(problems[b], root);
          DependencyTrees of_plain = trees_of(plain, root);
          EXPECT_NEAR(log_prob(one, chain)[0], log_prob(of_plain, chain)[0],
                      bound(1e-12, 1e-4) * n);
        }
      }
    }
  }
}

// Words in another order: the same distribution.
TEST_P(Identities, WordsMayBeRenamed) {
  for (const int n : lengths({2, 7, 33, 90}, 33)) {
    const Problem plain = oracle::attractor_pairs(n, 10, 5);
    const auto renamed = [n](int node) { return node == 0 ? 0 : n + 1 - node; };
    const auto side = static_cast<std::size_t>(n) + 1;
    const auto mirror = [&](const std::vector<double>& from) {
      std::vector<double> to(side * side);
      for (int h = 0; h <= n; ++h) {
        for (int m = 0; m <= n; ++m) {
          to[static_cast<std::size_t>(renamed(h)) * side + static_cast<std::size_t>(renamed(m))] =
              from[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)];
        }
      }
      return to;
    };
    Problem other = plain;
    other.scores = mirror(plain.scores);
    for (const RootRule root : kRules) {
      const Answers found = answers({plain, other}, root);
      const double size = std::max(1.0, std::abs(found.log_partition[0]));
      EXPECT_NEAR(found.log_partition[1], found.log_partition[0], bound(1e-13, 1e-6) * size);
      EXPECT_NEAR(found.entropy[1], found.entropy[0], bound(1e-11, 1e-4) * size);
      EXPECT_LE(largest_difference(mirror(found.marginals[1]), found.marginals[0]),
                bound(1e-13, 1e-5));
    }
  }
}

// Against all trees, one by one. An entropy is the mean of -log p.
TEST_P(Identities, LogProbIsExactForEveryTree) {
  for (const Problem& problem :
       {oracle::gaussian(1, 1, 1), oracle::gaussian(4, 2, 2), oracle::attractor_pairs(4, 30, 3),
        oracle::attractor_pairs(5, 900, 4), oracle::masked(4, -1e4, 5), oracle::masked(4, -1e9, 5),
        oracle::column_offsets(4, 1e5, 6), oracle::near_empty_columns(5, 7)}) {
    for (const Root root : {Root::kSingle, Root::kMulti}) {
      const auto all = oracle::all_trees(problem, root);
      std::vector<std::int32_t> heads;
      for (const auto& [tree, p] : all) heads.insert(heads.end(), tree.begin(), tree.end());
      DependencyTrees t = trees_of(problem, rule(root));
      const std::vector<double> found = log_prob(t, heads);
      double total = 0;
      double entropy = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double exact = oracle::log_prob(problem, root, all[i].first);
        EXPECT_NEAR(found[i], exact, bound(1e-13, 1e-5) * std::max(1.0, std::abs(exact)));
        total += std::exp(found[i]);
        entropy -= all[i].second * exact;
      }
      EXPECT_NEAR(total, 1, bound(1e-12, 1e-5));
      EXPECT_NEAR(ask(t).entropy[0], entropy, bound(1e-11, 1e-4) * std::max(1.0, entropy));
    }
  }
}

// Peaked distributions, of which the likely trees and edges have probabilities that round to 1 or
// would round to a little more.
TEST_P(Identities, ProbabilitiesAreAtMostOne) {
  std::uint64_t seed = 700;
  everywhere([&] {
    for (const RootRule root : kRules) {
      std::vector<Problem> problems;
      for (const int n : {3, 5, 8, 12, 20}) {
        for (const double sigma : {5, 20, 60}) {
          for (int i = 0; i < 8; ++i) problems.push_back(oracle::gaussian(n, sigma, ++seed));
        }
      }
      DependencyTrees t = trees(problems, root);
      for (const auto& p : ask(t).marginals) {
        for (const double x : p) EXPECT_TRUE(x >= 0 && x <= 1) << x - 1;
      }
      for (const Problem& problem : problems) {
        DependencyTrees own = trees_of(problem, root);
        for (const double x : log_prob(own, sample(own, 3)[0])) EXPECT_LE(x, 0);
      }
      if (GetParam().device) continue;
      for (const Problem& problem : problems) {
        const Factorization f = eliminate(ScoreView(problem.scores.data(), problem.n), root);
        for (const double x : root_marginals(f)) EXPECT_TRUE(x >= 0 && x <= 1) << x - 1;
        EXPECT_LE(expected_attachment(f, mbr(f)), 1);
      }
    }
  });
}

TEST_P(Identities, LogProbOfHeadsThatAreNotATree) {
  const Problem problem = oracle::gaussian(3, 1, 1);
  DependencyTrees single = trees_of(problem, RootRule::kSingle);
  DependencyTrees multi = trees_of(problem, RootRule::kMulti);
  const std::vector<std::int32_t> cycle{2, 1, 0};
  const std::vector<std::int32_t> own_head{0, 2, 1};
  const std::vector<std::int32_t> two_roots{0, 0, 1};
  const std::vector<std::int32_t> not_there{-1, -1, -1};
  EXPECT_EQ(log_prob(single, cycle)[0], -HUGE_VAL);
  EXPECT_EQ(log_prob(single, own_head)[0], -HUGE_VAL);
  EXPECT_EQ(log_prob(single, two_roots)[0], -HUGE_VAL);
  EXPECT_TRUE(std::isfinite(log_prob(multi, two_roots)[0]));
  EXPECT_TRUE(std::isnan(log_prob(multi, not_there)[0]));
  EXPECT_THROW(log_prob(single, {0, 1, 4}), std::invalid_argument);
  EXPECT_THROW(log_prob(single, {0, 1, -1}), std::invalid_argument);
  // A cycle of 33 words under a ROOT edge of another word.
  const Problem longer = oracle::gaussian(40, 1, 2);
  std::vector<std::int32_t> heads(40);
  std::iota(heads.begin(), heads.end(), 0);
  DependencyTrees of_longer = trees_of(longer, RootRule::kSingle);
  EXPECT_TRUE(std::isfinite(log_prob(of_longer, heads)[0]));
  heads[4] = 37;
  EXPECT_EQ(log_prob(of_longer, heads)[0], -HUGE_VAL);
}

// Sampled trees are trees, of edges that are allowed, and as frequent as their edges are probable.
TEST_P(Identities, SamplesAreTreesWithTheMarginals) {
  const std::vector<Problem> problems = mixed_problems();
  const std::size_t k = samples(2000, 20);
  for (const RootRule root : kRules) {
    DependencyTrees t = trees(problems, root);
    const Answers found = ask(t);
    const auto heads = sample(t, k);
    double worst = 0;
    for (std::size_t b = 0; b < problems.size(); ++b) {
      if (!found.outcomes[b].ok()) continue;
      SCOPED_TRACE(testing::Message() << "sentence " << b);
      const auto n = static_cast<std::size_t>(problems[b].n);
      std::vector<double> seen((n + 1) * (n + 1));
      for (std::size_t s = 0; s < k; ++s) {
        const TreeView tree(heads[b].data() + s * n, n);
        ASSERT_TRUE(is_tree(tree, root));
        for (std::size_t m = 1; m <= n; ++m) {
          const std::size_t cell = static_cast<std::size_t>(tree[m - 1]) * (n + 1) + m;
          ASSERT_GT(problems[b].scores[cell], -HUGE_VAL);
          seen[cell] += 1;
        }
      }
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const double p = found.marginals[b][i];
        const double expected = p * static_cast<double>(k);
        const double spread = std::sqrt(expected * (1 - std::min(p, 1.0)) + 10);
        worst = std::max(worst, std::abs(seen[i] - expected) / spread);
      }
    }
    EXPECT_LE(worst, 7) << "standard deviations";
  }
}

// The trees of a sentence depend on its id and not on the batch, its place there or the split of
// the trees among calls.
TEST_P(Identities, IdsKeyTheSamples) {
  const std::vector<Problem> problems = {oracle::gaussian(20, 1, 1), oracle::gaussian(70, 1, 2),
                                         oracle::attractor_pairs(12, 12, 3)};
  constexpr std::uint64_t kIds[] = {7, std::uint64_t{1} << 40, 0xfedcba9876543210};
  for (const RootRule root : kRules) {
    BatchOptions options = with_root(root);
    options.ids.assign(std::begin(kIds), std::end(kIds));
    DependencyTrees whole = trees(views_of(problems), options);
    SampleOptions how;
    how.seed = 5;
    const auto all = sample(whole, 60, how);
    for (std::size_t b = 0; b < problems.size(); ++b) {
      BatchOptions alone = with_root(root);
      alone.ids = {99, kIds[b]};
      DependencyTrees part = trees({ScoreView(problems[0].scores.data(), problems[0].n),
                                    ScoreView(problems[b].scores.data(), problems[b].n)},
                                   alone);
      SampleOptions rest = how;
      rest.first_tree = 40;
      const auto first = sample(part, 40, how);
      const auto last = sample(part, 20, rest);
      std::vector<std::int32_t> joined = first[1];
      joined.insert(joined.end(), last[1].begin(), last[1].end());
      EXPECT_EQ(joined, all[b]) << b;
      EXPECT_NE(first[0], first[1]);
    }
    // Without ids a sentence's id is its position.
    BatchOptions numbered = with_root(root);
    numbered.ids = {0, 1, 2};
    DependencyTrees with_ids = trees(views_of(problems), numbered);
    DependencyTrees without = trees(problems, root);
    EXPECT_EQ(sample(without, 20, how), sample(with_ids, 20, how));
    EXPECT_NE(sample(without, 20, how)[0], sample(whole, 20, how)[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(On, Identities, all_places(), name_of);

}  // namespace
}  // namespace taproot
