// SPDX-License-Identifier: Apache-2.0
//
// What is left when nearly all of the probability is drawn: far below the rounding of a double, and
// still drawn by its law.
#include <gtest/gtest.h>

#include <random>

#include "law/without_replacement.h"

namespace taproot {
namespace {

using law::kAlpha;
using law::Trees;
using law::WithoutReplacementSamples;
using oracle::Problem;

// Every tree allowed, sorted by its heads, with its weight relative to the heaviest: the sum of a
// few scores, good to the last digits however small. And the log of what all weigh.
struct Weighed {
  Weighed(const Problem& problem, oracle::Root root, TreeFamily family)
      : heads(law::allowed_trees(problem, root, family)) {
    for (const Tree& tree : heads) {
      log_weight.push_back(score(ScoreView(problem.scores.data(), problem.n), tree));
    }
  }

  // log of the sum over those that `of` chooses.
  template <typename Of>
  double log_sum(Of&& of) const {
    double most = -HUGE_VAL;
    for (std::size_t t = 0; t < heads.size(); ++t) {
      if (of(t)) most = std::max(most, log_weight[t]);
    }
    double sum = 0;
    for (std::size_t t = 0; t < heads.size(); ++t) {
      if (of(t)) sum += std::exp(log_weight[t] - most);
    }
    return most + std::log(sum);
  }

  std::size_t find(TreeView tree) const {
    const Tree copy(tree.begin(), tree.end());
    const auto at = std::lower_bound(heads.begin(), heads.end(), copy);
    return at != heads.end() && *at == copy ? static_cast<std::size_t>(at - heads.begin())
                                            : heads.size();
  }

  std::vector<Tree> heads;
  std::vector<double> log_weight;
};

// Four trees of edges near 0, then nothing for `gap`.
Problem four_trees_then(double gap) {
  Problem problem = oracle::gaussian(4, 1, 101);
  const auto near = [](int h, int m) {
    return (h == 0 && m == 1) || (h == 1 && m > 1) || (h == m - 1 && m >= 3);
  };
  for (int h = 0; h <= 4; ++h) {
    for (int m = 1; m <= 4; ++m) {
      if (!near(h, m)) problem.scores[static_cast<std::size_t>(h * 5 + m)] -= gap;
    }
  }
  return problem;
}

class WithoutReplacementTail : public testing::TestWithParam<law::WithoutReplacementCase> {
 protected:
  // When less than `mass` is left: where does the next tree fall in the law of those not drawn?
  // Uniform in [0, 1), whatever was drawn before.
  void expect_next(const Problem& problem, double mass, std::uint32_t samples) {
    const auto& [algorithm, root, family] = GetParam();
    const Weighed all(problem, root, family);
    const double total = all.log_sum([](std::size_t) { return true; });
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    std::mt19937_64 random(103);
    std::uniform_real_distribution<double> uniform;
    std::vector<double> places;
    double certain = 0;
    for (std::uint32_t s = 0; s < samples; ++s) {
      const WithoutReplacementSample& sample = draws(s, all.heads.size());
      ASSERT_EQ(sample.size(), all.heads.size());
      ASSERT_TRUE(sample.exhausted);
      std::vector<bool> left(all.heads.size(), true);
      const auto is_left = [&](std::size_t t) { return left[t]; };
      double drawn = 0;
      std::size_t i = 0;
      const auto next = [&] { return all.find(sample[i]); };
      for (;; ++i) {
        ASSERT_LT(i, sample.size());
        ASSERT_LT(next(), left.size());
        ASSERT_TRUE(left[next()]);
        if (drawn > 1 - 1e-9 && all.log_sum(is_left) - total < std::log(mass)) break;
        left[next()] = false;
        drawn += std::exp(all.log_weight[next()] - total);
      }
      const double rest = all.log_sum(is_left);
      double below = 0;
      for (std::size_t t = 0; t < next(); ++t) {
        if (left[t]) below += std::exp(all.log_weight[t] - rest);
      }
      const double own = std::exp(all.log_weight[next()] - rest);
      certain += own > 0.99 ? 1 : 0;
      places.push_back(below + own * uniform(random));
    }
    EXPECT_LT(certain, 0.5 * samples);  // Else nothing would be tested.
    EXPECT_GT(law::ks_p(places, [](double u) { return std::clamp(u, 0.0, 1.0); }), kAlpha);
  }
};

TEST_P(WithoutReplacementTail, HasTheLawAfterAFewTrees) {
  const auto& [algorithm, root, family] = GetParam();
  for (const double gap : {38.0, 150.0, 800.0, 5000.0}) {
    SCOPED_TRACE(gap);
    const Problem problem = four_trees_then(gap);
    const Weighed all(problem, root, family);
    const auto in_tail = [&](std::size_t t) { return all.log_weight[t] < -gap / 2; };
    const double log_total = all.log_sum([](std::size_t) { return true; });
    const double log_tail = all.log_sum(in_tail);
    ASSERT_LT(log_tail - log_total, std::log(1e-14));
    Trees tail;
    for (std::size_t t = 0; t < all.heads.size(); ++t) {
      if (in_tail(t)) tail.emplace_back(all.heads[t], std::exp(all.log_weight[t] - log_tail));
    }
    ASSERT_EQ(tail.size() + 4, all.heads.size());
    const law::TreeIndex index(tail);
    law::OrderedCounts counts(tail, 2);
    std::vector<double> kappas, fifth;
    WithoutReplacementSamples draws(problem, root, family, algorithm);
    for (std::uint32_t s = 0; s < 20000; ++s) {
      const WithoutReplacementSample& sample = draws(s, 6);
      ASSERT_EQ(sample.size(), 6U);
      for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(index(sample[i]), tail.size());
      counts.add({index(sample[4]), index(sample[5])});
      fifth.push_back(sample.gumbel[4] - (log_tail - log_total));
      if (s < 5000) kappas.push_back(draws(s, 4).kappa - (log_tail - log_total));
    }
    EXPECT_GT(counts.p_value(), kAlpha);
    // A Gumbel at the log of the tail's mass; the fourth is so far above that it bounds nothing.
    const auto cdf = [](double g) { return std::exp(-std::exp(-g)); };
    EXPECT_GT(law::ks_p(fifth, cdf), kAlpha);
    EXPECT_GT(law::ks_p(kappas, cdf), kAlpha);
  }
}

TEST_P(WithoutReplacementTail, HasTheLawWhateverWasSampled) {
  // Four words have 30 projective trees with one root, too few for a tail of several.
  const int n = GetParam().family == TreeFamily::kProjective ? 5 : 4;
  for (const std::uint64_t seed : {1U, 4U}) {
    for (const double mass : {1e-14, 1e-18}) {
      SCOPED_TRACE(testing::Message() << seed << " " << mass);
      expect_next(oracle::gaussian(n, 14, seed), mass, 1500);
    }
  }
}

TEST_P(WithoutReplacementTail, HasTheLawInLongerSentences) {
  for (const double mass : {1e-14, 1e-18}) {
    SCOPED_TRACE(mass);
    expect_next(law::few_choices(36, 9, 3, GetParam().family), mass, 1500);
  }
}

std::vector<law::WithoutReplacementCase> exact_cases() {
  auto cases = law::without_replacement_cases();
  std::erase_if(cases,
                [](const auto& c) { return c.algorithm == WithoutReplacementAlgorithm::kList; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, WithoutReplacementTail, testing::ValuesIn(exact_cases()),
                         law::case_name);

}  // namespace
}  // namespace taproot
