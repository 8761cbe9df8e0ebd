// SPDX-License-Identifier: Apache-2.0
//
// All trees that there are: each once, none missing, in the order that the law says.
#include <gtest/gtest.h>

#include <numeric>

#include "law/without_replacement.h"

namespace taproot {
namespace {

using law::kAlpha;
using law::Trees;
using law::WithoutReplacementSamples;
using oracle::Problem;

constexpr std::size_t kAll = std::size_t{1} << 30;
constexpr std::uint32_t kSamples = 20000;

class WithoutReplacementExhaustion : public testing::TestWithParam<law::WithoutReplacementCase> {
 protected:
  void expect_all(const Problem& problem) {
    const auto& [algorithm, root, family] = GetParam();
    const std::vector<Tree> trees = law::allowed_trees(problem, root, family);
    if (trees.empty()) return;
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    const WithoutReplacementSample& sample = draws(1, kAll);
    if (algorithm == WithoutReplacementAlgorithm::kList &&
        sample.status == Status::kNumericalLoss) {
      EXPECT_FALSE(sample.exhausted);
      return;
    }
    ++complete_;
    most_ = std::max(most_, trees.size());
    EXPECT_EQ(sample.status, Status::kOk);
    EXPECT_TRUE(sample.exhausted);
    EXPECT_EQ(sample.kappa, -HUGE_VAL);
    std::vector<Tree> drawn;
    double sum = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      drawn.emplace_back(sample[i].begin(), sample[i].end());
      sum += std::exp(sample.log_prob[i]);
      EXPECT_DOUBLE_EQ(sample.weight[i], std::exp(sample.log_prob[i]));  // All are in: q = 1.
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    std::sort(drawn.begin(), drawn.end());
    EXPECT_EQ(drawn.size(), trees.size());
    EXPECT_TRUE(drawn == trees);
    // With k their number it is the same, and known to be all.
    EXPECT_TRUE(draws(1, trees.size()).exhausted);
    if (trees.size() > 1) {
      EXPECT_FALSE(draws(1, trees.size() - 1).exhausted);
    }
  }

  int complete_ = 0;
  std::size_t most_ = 0;
};

TEST_P(WithoutReplacementExhaustion, OfDenseGraphs) {
  const int longest = GetParam().algorithm == WithoutReplacementAlgorithm::kList ? 5 : 6;
  for (int n = 1; n <= longest; ++n) {
    SCOPED_TRACE(n);
    expect_all(oracle::gaussian(n, 1, static_cast<std::uint64_t>(50 + n)));
    if (n <= 5) expect_all(oracle::heavy_tailed(n, static_cast<std::uint64_t>(60 + n)));
    if (n <= 5) expect_all(oracle::attractor_pairs(n, 30, static_cast<std::uint64_t>(70 + n)));
  }
  EXPECT_GE(complete_, GetParam().algorithm == WithoutReplacementAlgorithm::kList ? 4 : 16);
}

TEST_P(WithoutReplacementExhaustion, OfLongerSparseGraphs) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    expect_all(oracle::near_empty_columns(12, seed));
    expect_all(law::few_choices(36, 1, seed, GetParam().family));
  }
  EXPECT_GE(most_, 30U);
  EXPECT_GE(complete_, GetParam().algorithm == WithoutReplacementAlgorithm::kList ? 4 : 12);
}

// Which tree comes first, and which is left to the end: the one that all others include.
TEST_P(WithoutReplacementExhaustion, HasTheLawOfTheFirstAndTheLast) {
  const auto& [algorithm, root, family] = GetParam();
  for (const auto& problem : {oracle::gaussian(3, 1, 81), oracle::attractor_pairs(3, 2, 82)}) {
    const Trees trees = law::trees_of(problem, root, family);
    const law::TreeIndex index(trees);
    const auto pi = law::inclusion_probabilities(trees, trees.size() - 1);
    ASSERT_NEAR(std::accumulate(pi.begin(), pi.end(), 1.0), static_cast<double>(trees.size()),
                1e-6);
    std::vector<double> first(trees.size()), last(trees.size());
    std::vector<double> first_expected, last_expected;
    for (std::size_t t = 0; t < trees.size(); ++t) {
      first_expected.push_back(kSamples * trees[t].second);
      last_expected.push_back(kSamples * (1 - pi[t]));
    }
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    for (std::uint32_t s = 0; s < kSamples; ++s) {
      const WithoutReplacementSample& sample = draws(s, kAll);
      ASSERT_EQ(sample.size(), trees.size());
      ++first[index(sample[0])];
      ++last[index(sample[sample.size() - 1])];
    }
    EXPECT_GT(law::chi_square_p(first_expected, first), kAlpha);
    EXPECT_GT(law::chi_square_p(last_expected, last), kAlpha);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WithoutReplacementExhaustion,
                         testing::ValuesIn(law::without_replacement_cases()), law::case_name);

}  // namespace
}  // namespace taproot
