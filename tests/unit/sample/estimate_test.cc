// SPDX-License-Identifier: Apache-2.0
#include "taproot/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "testing/misuse.h"

namespace taproot {
namespace {

using Values = std::vector<double>;

TEST(HorvitzThompson, IsAccurateInTheTails) {
  EXPECT_EQ(inclusion_probability(-3, -HUGE_VAL), 1.0);
  EXPECT_EQ(horvitz_thompson_weight(-3, -HUGE_VAL), std::exp(-3.0));
  EXPECT_NEAR(inclusion_probability(0, 0), 1 - std::exp(-1.0), 1e-15);
  EXPECT_NEAR(inclusion_probability(-50, -3) / std::exp(-47.0), 1, 1e-14);
  EXPECT_NEAR(horvitz_thompson_weight(-50, -3) / std::exp(-3.0), 1, 1e-14);
  EXPECT_NEAR(horvitz_thompson_weight(-1000, -3) / std::exp(-3.0), 1, 1e-14);  // p is 0 in double.
  EXPECT_NEAR(horvitz_thompson_weight(-1, -30), std::exp(-1.0), 1e-15);
}

TEST(HorvitzThompson, HasAVariance) {
  const Values log_prob{std::log(0.5), std::log(0.2)};
  const Values values{2, -1};
  const double kappa = std::log(0.3);
  double sum = 0;
  double variance = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const double q = inclusion_probability(log_prob[i], kappa);
    const double term = std::exp(log_prob[i]) / q * values[i];
    sum += term;
    variance += term * term * (1 - q);
  }
  const Estimate found = horvitz_thompson_estimate(log_prob, kappa, values);
  EXPECT_NEAR(found.mean, sum, 1e-14);
  EXPECT_NEAR(found.standard_error, std::sqrt(variance), 1e-14);
  const auto one =
      horvitz_thompson_estimate(std::span(log_prob).first(1), kappa, std::span(values).first(1));
  EXPECT_EQ(one.standard_error, HUGE_VAL);
}

TEST(Estimate, OfIndependentTreesIsTheMean) {
  const Values values{1, 2, 4, 5};
  const Estimate found = estimate(values);
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_DOUBLE_EQ(found.standard_error, std::sqrt(10.0 / 3 / 4));
  const Interval around = interval(values, 0.95);
  EXPECT_NEAR(around.high - 3, 3.182446305284 * found.standard_error, 1e-5);
  EXPECT_DOUBLE_EQ(around.low + around.high, 6);
}

// Summing shares of 1 / k would leave an interval that does not hold the only value.
TEST(Estimate, OfEqualValuesIsThatValue) {
  const Values threes(100, 3);
  EXPECT_EQ(estimate(threes).mean, 3);
  EXPECT_EQ(estimate(threes).standard_error, 0);
  EXPECT_EQ(interval(threes, 0.95).low, 3);
  EXPECT_EQ(interval(threes, 0.95).high, 3);
  const Values log_prob{std::log(0.3), std::log(0.2), std::log(0.1)};
  const Estimate found = estimate(log_prob, std::log(0.15), Values(3, 0.1));
  EXPECT_EQ(found.mean, 0.1);
  EXPECT_EQ(found.standard_error, 0);
}

TEST(Estimate, OfWholeNumbersIsRoundedOnce) {
  Values depths(1000, 2);
  for (std::size_t i = 0; i < 734; ++i) depths[i] = 3;
  EXPECT_EQ(estimate(depths).mean, 2.734);
}

TEST(Estimate, WithoutReplacementKnowsWhatIsKnown) {
  const Values p{0.5, 0.2, 0.1};
  const double kappa = std::log(0.15);
  Values log_prob;
  Values r;
  for (const double x : p) {
    log_prob.push_back(std::log(x));
    const double q = inclusion_probability(std::log(x), kappa);
    r.push_back(x * (1 - q) / q);
  }
  const double sum = std::accumulate(r.begin(), r.end(), 0.0);
  Values weights(3);
  normalized_weights(log_prob, kappa, weights);
  double total = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(weights[i], p[i] + 0.2 * r[i] / sum, 1e-14);
    total += weights[i];
  }
  EXPECT_NEAR(total, 1, 1e-15);
  const Values values{1, -3, 7};
  const Estimate found = estimate(log_prob, kappa, values);
  EXPECT_NEAR(found.mean, weights[0] - 3 * weights[1] + 7 * weights[2], 1e-14);
  EXPECT_GT(found.standard_error, 0);
  const Values same{4, 4, 4};  // Nothing to be unsure of.
  EXPECT_NEAR(estimate(log_prob, kappa, same).mean, 4, 1e-14);
  EXPECT_NEAR(estimate(log_prob, kappa, same).standard_error, 0, 1e-14);
}

// All trees: no error. Their probabilities may sum to a little more or less than 1.
TEST(Estimate, OfAllTreesIsExact) {
  const Values log_prob{std::log(0.5), std::log(0.3), std::log(0.2)};
  const Values values{1, 2, 4};
  const Estimate found = estimate(log_prob, -HUGE_VAL, values);
  EXPECT_NEAR(found.mean, 1.9, 1e-15);
  EXPECT_EQ(found.standard_error, 0);
  EXPECT_EQ(horvitz_thompson_estimate(log_prob, -HUGE_VAL, values).standard_error, 0);
  for (const auto kind : {ValueKind::kNumber, ValueKind::kEvent}) {
    const Interval around = interval(log_prob, -HUGE_VAL, Values{1, 0, 0}, 0.95, kind);
    EXPECT_EQ(around.low, around.high);
    EXPECT_NEAR(around.low, 0.5, 1e-15);
  }
}

// Probabilities, weights and kappa below double's range, and a rest that double cannot hold.
TEST(Estimate, WithoutReplacementHasNoRange) {
  const Values tiny(4, -2000.0);
  Values weights(4);
  normalized_weights(tiny, -1999.0, weights);
  for (const double w : weights) EXPECT_NEAR(w, 0.25, 1e-15);
  const Estimate found = estimate(tiny, -1999.0, Values{1, 2, 4, 5});
  EXPECT_NEAR(found.mean, 3, 1e-13);
  EXPECT_NEAR(found.standard_error, std::sqrt(10.0 / 3 / 4), 0.3);
  const Values nearly_all{std::log(0.75), std::log(0.25)};
  const Estimate rest = estimate(nearly_all, -600, Values{0, 1});
  EXPECT_NEAR(rest.mean, 0.25, 1e-15);
  EXPECT_LT(rest.standard_error, 1e-15);
}

TEST(Estimate, FromTooFewTreesSaysSo) {
  EXPECT_TRUE(std::isnan(estimate(Values{}).mean));
  EXPECT_TRUE(std::isnan(interval(Values{}).low));
  EXPECT_TRUE(std::isnan(estimate(Values{}, 0, Values{}).standard_error));
  EXPECT_TRUE(std::isnan(horvitz_thompson_estimate(Values{}, 0, Values{}).mean));
  EXPECT_EQ(estimate(Values{3}).mean, 3);
  EXPECT_EQ(estimate(Values{3}).standard_error, HUGE_VAL);
  EXPECT_EQ(interval(Values{3}).low, -HUGE_VAL);
  EXPECT_EQ(interval(Values{3}).high, HUGE_VAL);
  const Interval event = interval(Values{1}, 0.95, ValueKind::kEvent);
  EXPECT_EQ(event.low, 0);
  EXPECT_EQ(event.high, 1);
  const Interval of_one = interval(Values{-1}, -1, Values{1}, 0.95, ValueKind::kEvent);
  EXPECT_NEAR(of_one.low, std::exp(-1.0), 1e-15);  // The tree itself is known.
  EXPECT_EQ(of_one.high, 1);
}

TEST(Interval, OfAnEventIsWilsons) {
  const Values none(20, 0.0);
  const Interval around = interval(none, 0.95, ValueKind::kEvent);
  EXPECT_EQ(around.low, 0);
  EXPECT_GT(around.high, 0.1);  // The rule of three says 0.15.
  EXPECT_LT(around.high, 0.25);
  EXPECT_EQ(interval(Values(20, 1.0), 0.95, ValueKind::kEvent).high, 1);
  EXPECT_EQ(interval(none, 0.95).high, 0);  // As numbers: what was seen is all.
}

TEST(Interval, GrowsWithItsLevel) {
  const Values values{1, 2, 4, 5, 2, 3};
  double last = 0;
  for (const double level : {0.5, 0.8, 0.95, 0.999}) {
    const Interval around = interval(values, level);
    EXPECT_GT(around.high - around.low, last);
    last = around.high - around.low;
  }
}

TEST(Estimate, MisuseIsNamed) {
  const Values two{-1, -2};
  const Values one{1};
  Values out(1);
  expect_misuse("estimate", [&] { estimate(two, -3, one); });
  expect_misuse("estimate", [&] { estimate(two, NAN, two); });
  expect_misuse("interval", [&] { interval(two, -3, one); });
  expect_misuse("interval", [&] { interval(two, 0); });
  expect_misuse("interval", [&] { interval(two, 1); });
  expect_misuse("interval", [&] { interval(two, 0.9, ValueKind::kEvent); });
  expect_misuse("normalized_weights", [&] { normalized_weights(two, -3, out); });
  expect_misuse("horvitz_thompson_estimate", [&] { horvitz_thompson_estimate(two, -3, one); });
}

}  // namespace
}  // namespace taproot
