// SPDX-License-Identifier: Apache-2.0
//
// The Gumbels of a sample without replacement are the largest of those of all trees, and estimates
// made with them are unbiased.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "law/without_replacement.h"
#include "taproot/estimate.h"

namespace taproot {
namespace {

using law::kAlpha;
using law::Trees;
using law::WithoutReplacementSamples;
using oracle::Problem;

constexpr std::uint32_t kSamples = 20000;
// The mean of an unbiased estimate is within these many standard errors.
constexpr double kStandardErrors = 5;

double gumbel_cdf(double g) { return std::exp(-std::exp(-g)); }

// The `order`-th largest of log p(t) + Gumbel(0) over all trees, order = 0, ..., orders - 1, by
// drawing all of them.
std::vector<std::vector<double>> perturb_all(const Trees& trees, std::size_t orders) {
  std::mt19937_64 random(29);
  std::uniform_real_distribution<double> uniform(0x1p-60, 1);
  std::vector<std::vector<double>> largest(orders);
  std::vector<double> all(trees.size());
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    for (std::size_t t = 0; t < trees.size(); ++t) {
      all[t] = std::log(trees[t].second) - std::log(-std::log(uniform(random)));
    }
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(orders), all.end(),
                      std::greater<>());
    for (std::size_t i = 0; i < orders; ++i) largest[i].push_back(all[i]);
  }
  return largest;
}

class WithoutReplacementGumbels : public testing::TestWithParam<law::WithoutReplacementCase> {};

TEST_P(WithoutReplacementGumbels, AreThoseOfAllTrees) {
  const auto& [algorithm, root, family] = GetParam();
  for (const auto& problem : {oracle::gaussian(4, 1.5, 31), oracle::attractor_pairs(4, 3, 32)}) {
    const auto all = perturb_all(law::trees_of(problem, root, family), 6);
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    for (const std::size_t k : {2U, 5U}) {
      std::vector<double> first, last, kappa;
      for (std::uint32_t s = 0; s < kSamples; ++s) {
        const WithoutReplacementSample& sample = draws(s, k);
        ASSERT_EQ(sample.size(), k);
        for (std::size_t i = 1; i < k; ++i) ASSERT_LT(sample.gumbel[i], sample.gumbel[i - 1]);
        ASSERT_LT(sample.kappa, sample.gumbel.back());
        first.push_back(sample.gumbel[0]);
        last.push_back(sample.gumbel.back());
        kappa.push_back(sample.kappa);
      }
      EXPECT_GT(law::ks_p(first, gumbel_cdf), kAlpha) << k;
      EXPECT_GT(law::ks_p(last, all[k - 1]), kAlpha) << k;
      EXPECT_GT(law::ks_p(kappa, all[k]), kAlpha) << k;
    }
  }
}

// Gumbels say more than their own law: whether a tree has the largest is independent of how large
// it is, and gumbel - log p is what was added to that tree.
TEST_P(WithoutReplacementGumbels, AreIndependentOfTheFirstTree) {
  const auto& [algorithm, root, family] = GetParam();
  const Problem problem = oracle::gaussian(4, 1.5, 31);
  const Trees trees = law::trees_of(problem, root, family);
  const auto best = std::max_element(
      trees.begin(), trees.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  WithoutReplacementSamples draws(problem, root, family, algorithm);
  std::vector<double> of_best, of_others;
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    const WithoutReplacementSample& sample = draws(s, 1);
    const bool is_best = std::equal(sample[0].begin(), sample[0].end(), best->first.begin());
    (is_best ? of_best : of_others).push_back(sample.gumbel[0]);
  }
  EXPECT_GT(of_best.size(), 500U);
  EXPECT_GT(law::ks_p(of_best, gumbel_cdf), kAlpha);
  EXPECT_GT(law::ks_p(of_others, gumbel_cdf), kAlpha);
}

// Edges that a tree shares with `reference`.
double agreement(TreeView tree, const Tree& reference) {
  double edges = 0;
  for (std::size_t m = 0; m < reference.size(); ++m) edges += tree[m] == reference[m] ? 1 : 0;
  return edges;
}

double expected_agreement(const Trees& trees, const Tree& reference) {
  double sum = 0;
  for (const auto& [heads, p] : trees) sum += p * agreement(heads, reference);
  return sum;
}

// Estimates of the agreement from samples of k trees.
std::vector<double> estimates(WithoutReplacementSamples& draws, std::size_t k,
                              const Tree& reference, bool normalized, std::uint32_t samples) {
  std::vector<double> result;
  std::vector<double> values;
  for (std::uint32_t s = 0; s < samples; ++s) {
    const WithoutReplacementSample& sample = draws(s, k);
    values.clear();
    for (std::size_t i = 0; i < sample.size(); ++i) {
      values.push_back(agreement(sample[i], reference));
    }
    result.push_back((normalized ? estimate(sample.log_prob, sample.kappa, values)
                                 : horvitz_thompson_estimate(sample.log_prob, sample.kappa, values))
                         .mean);
  }
  return result;
}

TEST_P(WithoutReplacementGumbels, MakeWeightsThatSumToOneOnAverage) {
  const auto& [algorithm, root, family] = GetParam();
  for (const auto& problem : {oracle::gaussian(4, 1.5, 33), oracle::attractor_pairs(4, 3, 34)}) {
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    for (const std::size_t k : {2U, 3U, 5U}) {
      std::vector<double> sums;
      for (std::uint32_t s = 0; s < kSamples; ++s) {
        const WithoutReplacementSample& sample = draws(s, k);
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i) {
          sum += std::exp(sample.log_prob[i]) /
                 inclusion_probability(sample.log_prob[i], sample.kappa);
          EXPECT_NEAR(sample.weight[i], horvitz_thompson_weight(sample.log_prob[i], sample.kappa),
                      1e-14);
        }
        sums.push_back(sum);
      }
      EXPECT_LT(std::abs(law::standard_errors(sums, 1)), kStandardErrors) << k;
    }
  }
}

TEST_P(WithoutReplacementGumbels, MakeUnbiasedEstimates) {
  const auto& [algorithm, root, family] = GetParam();
  const Problem problem = oracle::gaussian(4, 1.5, 35);
  const Trees trees = law::trees_of(problem, root, family);
  const Tree reference = trees[trees.size() / 2].first;
  WithoutReplacementSamples draws(problem, root, family, algorithm);
  for (const std::size_t k : {2U, 5U, 10U}) {
    const auto values = estimates(draws, k, reference, false, kSamples);
    EXPECT_LT(std::abs(law::standard_errors(values, expected_agreement(trees, reference))),
              kStandardErrors)
        << k;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WithoutReplacementGumbels,
                         testing::ValuesIn(law::without_replacement_cases()), law::case_name);

// Weights that sum to 1 are biased, less with more trees.
TEST(NormalizedEstimates, LoseTheirBiasWithMoreTrees) {
  for (const auto root : {oracle::Root::kSingle, oracle::Root::kMulti}) {
    const Problem problem = oracle::gaussian(4, 2.5, 41);
    const Trees trees = oracle::all_trees(problem, root);
    const auto best =
        std::max_element(trees.begin(), trees.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const double exact = expected_agreement(trees, best->first);
    WithoutReplacementSamples draws(problem, root, TreeFamily::kAll,
                                    WithoutReplacementAlgorithm::kAuto);
    double last = HUGE_VAL;
    for (const std::size_t k : {2U, 8U, 30U}) {
      const auto values = estimates(draws, k, best->first, true, k == 30 ? 20000 : 60000);
      double mean = 0;
      for (const double v : values) mean += v / static_cast<double>(values.size());
      const double errors = law::standard_errors(values, exact);
      std::printf("normalized %s k %zu: bias %.5f, %.1f standard errors\n", name(root), k,
                  mean - exact, errors);
      if (k == 2) {
        EXPECT_GT(std::abs(errors), 10);
      }
      EXPECT_LT(std::abs(mean - exact), 0.5 * last);
      last = std::abs(mean - exact);
    }
  }
}

}  // namespace
}  // namespace taproot
