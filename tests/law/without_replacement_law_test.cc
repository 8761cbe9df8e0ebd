// SPDX-License-Identifier: Apache-2.0
//
// Trees without replacement come in the order and as often as the enumeration says.
#include <gtest/gtest.h>

#include <algorithm>

#include "law/without_replacement.h"

namespace taproot {
namespace {

using law::kAlpha;
using law::Trees;
using law::WithoutReplacementSamples;
using oracle::Problem;

class WithoutReplacementLaw : public testing::TestWithParam<law::WithoutReplacementCase> {
 protected:
  // The ordered k-tuple of trees, or of all trees where there are fewer.
  void expect_order(const Problem& problem, std::size_t most, std::uint32_t samples) {
    const auto& [algorithm, root, family] = GetParam();
    const Trees trees = law::trees_of(problem, root, family);
    const std::size_t k = std::min(most, trees.size());
    ASSERT_GE(k, 2U);
    const law::TreeIndex index(trees);
    law::OrderedCounts counts(trees, k);
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    for (std::uint32_t s = 0; s < samples; ++s) counts.add(indices(draws(s, k), index));
    EXPECT_GT(counts.p_value(), kAlpha);
  }

  // How often each tree is among the first k.
  void expect_inclusion(const Problem& problem, std::size_t k, std::uint32_t samples) {
    const auto& [algorithm, root, family] = GetParam();
    const Trees trees = law::trees_of(problem, root, family);
    const law::TreeIndex index(trees);
    const std::vector<double> pi = law::inclusion_probabilities(trees, k);
    double sum = 0;
    for (const double p : pi) sum += p;
    ASSERT_NEAR(sum, static_cast<double>(k), 1e-6);
    std::vector<double> counts(trees.size() + 1);
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    for (std::uint32_t s = 0; s < samples; ++s) {
      const WithoutReplacementSample& sample = draws(s, k);
      ASSERT_EQ(sample.size(), k);
      for (std::size_t i = 0; i < k; ++i) ++counts[index(sample[i])];
    }
    EXPECT_EQ(counts.back(), 0);
    const double delta = kAlpha / static_cast<double>(trees.size());
    for (std::size_t t = 0; t < trees.size(); ++t) {
      EXPECT_LE(std::abs(counts[t] / samples - pi[t]), law::frequency_bound(pi[t], samples, delta))
          << "tree " << t << " pi " << pi[t] << " seen " << counts[t];
    }
  }
};

TEST_P(WithoutReplacementLaw, OfTriples) {
  for (const auto& problem : {oracle::gaussian(3, 1, 3), oracle::gaussian(3, 2, 4),
                              oracle::sparse(3, 0.8, 1), oracle::attractor_pairs(3, 3, 5)}) {
    expect_order(problem, 3, 100000);
  }
}

TEST_P(WithoutReplacementLaw, OfPairs) {
  for (const auto& problem : {oracle::gaussian(4, 1, 6), oracle::gaussian(4, 2, 7),
                              oracle::sparse(4, 0.7, 1), oracle::attractor_pairs(4, 3, 9)}) {
    expect_order(problem, 2, 100000);
  }
}

TEST_P(WithoutReplacementLaw, OfInclusion) {
  const std::uint32_t samples =
      GetParam().algorithm == WithoutReplacementAlgorithm::kList ? 5000 : 10000;
  for (const std::size_t k : {5U, 20U}) {
    SCOPED_TRACE(k);
    expect_inclusion(oracle::gaussian(4, 1.5, 10), k, samples);
    expect_inclusion(oracle::attractor_pairs(4, 3, 12), k, samples);
    expect_inclusion(oracle::gaussian(5, 1.5, 11), k, samples);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WithoutReplacementLaw,
                         testing::ValuesIn(law::without_replacement_cases()), law::case_name);

}  // namespace
}  // namespace taproot
