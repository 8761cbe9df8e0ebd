// SPDX-License-Identifier: Apache-2.0
//
// Confidence intervals hold the expectation as often as they say: 95 % of 10,000 samples of 30
// trees, with and without replacement, and standard errors are as large as the errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

#include "law/without_replacement.h"
#include "taproot/estimate.h"

namespace taproot {
namespace {

using law::Trees;
using oracle::Problem;
using oracle::Root;
using Function = std::function<double(TreeView)>;

constexpr std::uint32_t kRuns = 10000;
constexpr std::size_t kTrees = 30;

double depth(TreeView heads) {
  int most = 0;
  for (const std::int32_t head : heads) {
    int steps = 1;
    for (std::int32_t at = head; at != 0; at = heads[static_cast<std::size_t>(at) - 1]) ++steps;
    most = std::max(most, steps);
  }
  return most;
}

double total_length(TreeView heads) {
  double sum = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i] != 0) sum += std::abs(heads[i] - static_cast<std::int32_t>(i) - 1);
  }
  return sum;
}

struct Coverage {
  double inside = 0;       // The share of runs whose interval holds the expectation.
  double error_ratio = 0;  // The mean squared standard error over the mean squared error.
  double width = 0;
};

// Values of one run, log probabilities and kappa; these are empty with replacement.
struct Sampled {
  std::vector<double> values;
  std::vector<double> log_prob;
  double kappa = 0;
};

using Draw = std::function<void(std::uint32_t, Sampled&)>;

Coverage measure(const Trees& trees, const Function& f, const Draw& draw) {
  double exact = 0;
  for (const auto& [heads, p] : trees) exact += p * f(heads);
  Coverage found;
  double squares = 0;
  double variances = 0;
  Sampled run;
  for (std::uint32_t s = 0; s < kRuns; ++s) {
    draw(s, run);
    const bool independent = run.log_prob.empty();
    const Estimate e =
        independent ? estimate(run.values) : estimate(run.log_prob, run.kappa, run.values);
    const Interval i =
        independent ? interval(run.values) : interval(run.log_prob, run.kappa, run.values);
    found.inside += (i.low <= exact && exact <= i.high ? 1.0 : 0.0) / kRuns;
    found.width += (i.high - i.low) / kRuns;
    squares += (e.mean - exact) * (e.mean - exact);
    variances += e.standard_error * e.standard_error;
  }
  found.error_ratio = variances / squares;
  return found;
}

Draw with_replacement(const Factorization& f, const Function& value) {
  return [&f, value](std::uint32_t s, Sampled& run) {
    run = {};
    SampleOptions options;
    options.seed = 1000 + s;
    for (const Tree& heads : sample(f, kTrees, options)) run.values.push_back(value(heads));
  };
}

Draw without_replacement(law::WithoutReplacementSamples& draws, const Function& value) {
  return [&draws, value](std::uint32_t s, Sampled& run) {
    const WithoutReplacementSample& sample = draws(s, kTrees);
    run = {{}, sample.log_prob, sample.kappa};
    for (std::size_t i = 0; i < sample.size(); ++i) run.values.push_back(value(sample[i]));
  };
}

class Intervals : public testing::TestWithParam<double> {};

// Scores N(0, sigma^2) of five words: 625 trees from equally likely (0) to one with most of the
// mass (3).
TEST_P(Intervals, HoldTheExpectationAsOftenAsTheySay) {
  const double sigma = GetParam();
  const Problem problem = sigma == 0 ? oracle::uniform(5) : oracle::gaussian(5, sigma, 3);
  const Trees trees = oracle::all_trees(problem, Root::kSingle);
  law::WithoutReplacementSamples draws(problem, Root::kSingle, TreeFamily::kAll,
                                       WithoutReplacementAlgorithm::kAuto);
  const std::vector<std::pair<std::string, Function>> functions{{"depth", depth},
                                                                {"length", total_length}};
  for (const auto& [name, f] : functions) {
    const Coverage with = measure(trees, f, with_replacement(draws.factorization(), f));
    const Coverage without = measure(trees, f, without_replacement(draws, f));
    std::printf("sigma %g, %s: with replacement %.4f (width %.4f), without %.4f (width %.4f)\n",
                sigma, name.c_str(), with.inside, with.width, without.inside, without.width);
    EXPECT_NEAR(with.inside, 0.95, 0.01) << name;
    EXPECT_NEAR(without.inside, 0.95, 0.01) << name;
    EXPECT_NEAR(with.error_ratio, 1, 0.1) << name;
    EXPECT_NEAR(without.error_ratio, 1, 0.1) << name;
    EXPECT_LT(without.width, with.width) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Spreads, Intervals, testing::Values(0, 1, 2, 3));

// The trees of one run.
struct Samples {
  std::vector<Tree> trees;
  std::vector<double> log_prob;  // Empty with replacement.
  double kappa = 0;
};

// The share of runs whose interval holds the probability of an event.
double event_coverage(const Trees& trees, const std::vector<Samples>& runs,
                      const std::function<bool(TreeView)>& event) {
  double exact = 0;
  for (const auto& [heads, p] : trees) exact += event(heads) ? p : 0;
  double inside = 0;
  std::vector<double> values;
  for (const Samples& run : runs) {
    values.clear();
    for (const Tree& tree : run.trees) values.push_back(event(tree) ? 1 : 0);
    const Interval i = run.log_prob.empty()
                           ? interval(values, 0.95, ValueKind::kEvent)
                           : interval(run.log_prob, run.kappa, values, 0.95, ValueKind::kEvent);
    inside += i.low <= exact && exact <= i.high ? 1 : 0;
  }
  return inside / static_cast<double>(runs.size());
}

// The same without sampling, for independent trees: the binomial law of an event of probability p.
double exact_coverage(double p) {
  double inside = 0;
  double probability = std::pow(1 - p, kTrees);
  for (std::size_t j = 0; j <= kTrees; ++j) {
    std::vector<double> values(kTrees, 0);
    std::fill_n(values.begin(), j, 1.0);
    const Interval i = interval(values, 0.95, ValueKind::kEvent);
    if (i.low <= p && p <= i.high) inside += probability;
    probability *= static_cast<double>(kTrees - j) / static_cast<double>(j + 1) * p / (1 - p);
  }
  return inside;
}

// A share of 30 trees has few values, so no interval holds every probability exactly as often as it
// says. On average over the edges it does, unless they are too rare or too frequent for 30 trees to
// say much. With replacement, what it does for each is known exactly; samples must agree with that.
// The edges of three of the five words are sampled, which takes long enough.
TEST(EventIntervals, HoldAsOftenAsTheySayOnAverage) {
  for (const double sigma : {1.0, 2.0, 3.0}) {
    const Problem problem = oracle::gaussian(5, sigma, 3);
    const Trees trees = oracle::all_trees(problem, Root::kSingle);
    law::WithoutReplacementSamples draws(problem, Root::kSingle, TreeFamily::kAll,
                                         WithoutReplacementAlgorithm::kAuto);
    std::vector<Samples> with;
    std::vector<Samples> without;
    for (std::uint32_t s = 0; s < kRuns; ++s) {
      SampleOptions options;
      options.seed = 1000 + s;
      with.push_back({sample(draws.factorization(), kTrees, options), {}, 0});
      const WithoutReplacementSample& drawn = draws(s, kTrees);
      without.push_back({{}, drawn.log_prob, drawn.kappa});
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        without.back().trees.emplace_back(drawn[i].begin(), drawn[i].end());
      }
    }
    constexpr std::size_t kSampledWords = 3;
    double exact_mean = 0;
    double sampled_mean = 0;
    double least = 1;
    int exact_events = 0;
    int sampled_events = 0;
    const auto look_at = [&](const std::function<bool(TreeView)>& event, bool is_sampled) {
      double p = 0;
      for (const auto& [heads, probability] : trees) p += event(heads) ? probability : 0;
      if (p <= 1.0 / kTrees || p >= 1 - 1.0 / kTrees) return;
      const double exact = exact_coverage(p);
      exact_mean += exact;
      ++exact_events;
      least = std::min(least, exact);
      if (!is_sampled) return;
      const double error = std::sqrt(exact * (1 - exact) / kRuns);
      EXPECT_NEAR(event_coverage(trees, with, event), exact, 5.5 * error);
      const double inside = event_coverage(trees, without, event);
      sampled_mean += inside;
      ++sampled_events;
      least = std::min(least, inside);
    };
    look_at([](TreeView heads) { return depth(heads) > 3; }, true);
    for (std::int32_t h = 0; h <= 5; ++h) {
      for (std::size_t m = 0; m < 5; ++m) {
        look_at([=](TreeView heads) { return heads[m] == h; }, m < kSampledWords);
      }
    }
    exact_mean /= exact_events;
    sampled_mean /= sampled_events;
    std::printf("sigma %g: with replacement %.5f (%d events), without %.4f (%d); the least %.4f\n",
                sigma, exact_mean, exact_events, sampled_mean, sampled_events, least);
    EXPECT_NEAR(exact_mean, 0.95, 0.01);
    EXPECT_NEAR(sampled_mean, 0.95, 0.01);
    EXPECT_GT(least, 0.87);
  }
}

// The same measurement rejects what looks like an interval: the mean of different trees as if they
// were independent.
TEST(WrongIntervals, AreRejected) {
  const Problem problem = oracle::gaussian(5, 2, 3);
  const Trees trees = oracle::all_trees(problem, Root::kSingle);
  law::WithoutReplacementSamples draws(problem, Root::kSingle, TreeFamily::kAll,
                                       WithoutReplacementAlgorithm::kAuto);
  const Coverage wrong = measure(trees, depth, [&](std::uint32_t s, Sampled& run) {
    without_replacement(draws, depth)(s, run);
    run.log_prob.clear();
  });
  EXPECT_GT(std::abs(wrong.inside - 0.95), 0.03);
}

}  // namespace
}  // namespace taproot
