// SPDX-License-Identifier: Apache-2.0
//
// What holds of every distribution, asked of the device alone: no answer of the CPU's is in it.
#include <algorithm>
#include <cmath>

#include "cuda/answers.h"
#include "cuda/on_device.h"
#include "testing/families.h"

namespace taproot {
namespace {

using oracle::Problem;

constexpr RootRule kRules[] = {RootRule::kSingle, RootRule::kMulti};
constexpr Precision kPrecisions[] = {Precision::kFloat64, Precision::kFloat32};

std::vector<Problem> mixed_problems() {
  std::vector<Problem> problems;
  std::uint64_t seed = 40;
  for (const int n : lengths({1, 2, 3, 6, 20, 31, 32, 47, 64, 100, 140, 180}, 47)) {
    problems.push_back(oracle::gaussian(n, 2, ++seed));
    problems.push_back(oracle::sparse(n, 0.6, ++seed));
    problems.push_back(oracle::attractor_pairs(n, 18, ++seed));
    problems.push_back(oracle::heavy_tailed(n, ++seed));
    problems.push_back(oracle::near_empty_columns(n, ++seed));
  }
  return problems;
}

class CudaIdentities : public OnDevice {};

TEST_F(CudaIdentities, EveryWordHasOneHead) {
  const std::vector<Problem> problems = mixed_problems();
  for (const RootRule root : kRules) {
    for (const Precision precision : kPrecisions) {
      Cuda cuda(precision);
      const Answers found = ask(cuda, batch_of(problems, root));
      double worst = 0;
      for (std::size_t b = 0; b < problems.size(); ++b) {
        if (!found.outcomes[b].ok()) continue;
        const auto side = static_cast<std::size_t>(problems[b].n) + 1;
        const std::vector<double>& p = found.marginals[b];
        double roots = 0;
        for (std::size_t m = 0; m < side; ++m) {
          double sum = 0;
          for (std::size_t h = 0; h < side; ++h) sum += p[h * side + m];
          worst = std::max(worst, std::abs(sum - (m == 0 ? 0 : 1)));
          EXPECT_EQ(p[m * side + m], 0);
          roots += p[m];
        }
        if (root == RootRule::kSingle) worst = std::max(worst, std::abs(roots - 1));
      }
      EXPECT_LE(worst, precision == Precision::kFloat64 ? 1e-13 : 1e-4);
      expect_ran(cuda);
    }
  }
}

// d log Z / d S[h][m] = p(h -> m), by central differences with Richardson's extrapolation: all
// cells of a sentence in one batch.
TEST_F(CudaIdentities, MarginalsAreTheGradientOfLogPartition) {
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
      Cuda cuda;
      const Answers found = ask(cuda, batch_of(moved, root));
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const double* z = found.log_z.data() + 1 + 4 * i;
        const double near = (z[0] - z[1]) / 2e-3;
        const double far = (z[2] - z[3]) / 4e-3;
        EXPECT_NEAR(found.marginals[0][cells[i]], (4 * near - far) / 3, 1e-11) << "n " << n;
      }
      expect_ran(cuda);
    }
  }
}

// Z = Z without an edge + Z with it: forbidden, and the only one into its word.
TEST_F(CudaIdentities, AnEdgeIsInOrOut) {
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
      Cuda cuda;
      const Answers found = ask(cuda, batch_of(problems, root));
      std::size_t at = 1;
      for (int h = 0; h <= n; ++h) {
        if (h == m) continue;
        const auto share = [&](std::size_t b) {
          return found.outcomes[b].ok() ? std::exp(found.log_z[b] - found.log_z[0]) : 0.0;
        };
        EXPECT_NEAR(share(at) + share(at + 1), 1, 1e-12) << n;
        EXPECT_NEAR(found.marginals[0][static_cast<std::size_t>(h * (n + 1) + m)], share(at + 1),
                    1e-12);
        at += 2;
      }
      expect_ran(cuda);
    }
  }
}

// Offsets of a column, and of all ROOT edges, change log Z by themselves and no marginal. Scores
// are multiples of 2^-20, so that the sums are exact.
TEST_F(CudaIdentities, OffsetsChangeLogPartitionAlone) {
  for (const int n : lengths({1, 9, 40, 160}, 40)) {
    Problem plain = oracle::gaussian(n, 2, 3);
    for (double& s : plain.scores) s = std::nearbyint(s * 0x1p20) * 0x1p-20;
    Problem column = plain;
    Problem root_row = plain;
    const double offset = 0x1p14;
    for (int h = 0; h <= n; ++h) column.scores[static_cast<std::size_t>(h * (n + 1) + n)] += offset;
    for (int m = 1; m <= n; ++m) root_row.scores[static_cast<std::size_t>(m)] += offset;
    for (const RootRule root : kRules) {
      Cuda cuda;
      const Answers found = ask(cuda, batch_of({plain, column, root_row}, root));
      EXPECT_DOUBLE_EQ(found.log_z[1], found.log_z[0] + offset);
      EXPECT_LE(largest_difference(found.marginals[1], found.marginals[0]), 1e-14 * n);
      if (root == RootRule::kSingle) {
        EXPECT_DOUBLE_EQ(found.log_z[2], found.log_z[0] + offset);
        EXPECT_LE(largest_difference(found.marginals[2], found.marginals[0]), 1e-14 * n);
      }
      expect_ran(cuda);
    }
  }
}

// Words in another order: the same distribution.
TEST_F(CudaIdentities, WordsMayBeRenamed) {
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
      Cuda cuda;
      const Answers found = ask(cuda, batch_of({plain, other}, root));
      EXPECT_NEAR(found.log_z[1], found.log_z[0], 1e-13 * std::max(1.0, std::abs(found.log_z[0])));
      EXPECT_LE(largest_difference(mirror(found.marginals[1]), found.marginals[0]), 1e-13);
      expect_ran(cuda);
    }
  }
}

// Trees of either sampler are trees, of edges that are allowed; and as frequent as their edges are
// probable.
TEST_F(CudaIdentities, SamplesAreTreesWithTheMarginals) {
  const std::vector<Problem> problems = mixed_problems();
  const std::size_t k = samples(2000, 20);
  for (const RootRule root : kRules) {
    for (const Precision precision : kPrecisions) {
      Cuda cuda(precision);
      const Scores scores = batch_of(problems, root);
      const Answers found = ask(cuda, scores);
      std::vector<std::vector<std::int32_t>> trees;
      std::vector<TreeBuffer> out;
      for (const Problem& p : problems) trees.emplace_back(k * static_cast<std::size_t>(p.n));
      for (std::size_t b = 0; b < trees.size(); ++b)
        out.push_back({trees[b].data(), problems[b].n});
      std::vector<Outcome> outcomes(problems.size());
      sample(cuda, scores, k, {}, outcomes, out);
      double worst = 0;
      for (std::size_t b = 0; b < problems.size(); ++b) {
        if (!outcomes[b].ok()) continue;
        SCOPED_TRACE(testing::Message() << "sentence " << b);
        const auto n = static_cast<std::size_t>(problems[b].n);
        std::vector<double> seen((n + 1) * (n + 1));
        for (std::size_t s = 0; s < k; ++s) {
          const TreeView tree(trees[b].data() + s * n, n);
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
      expect_ran(cuda);
    }
  }
}

}  // namespace
}  // namespace taproot
