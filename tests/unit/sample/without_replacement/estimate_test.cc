// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "taproot/without_replacement.h"
#include "testing/misuse.h"

namespace taproot {
namespace {

TEST(Estimators, AreAccurateInTheTails) {
  EXPECT_EQ(inclusion_probability(-3, -HUGE_VAL), 1.0);
  EXPECT_EQ(horvitz_thompson_weight(-3, -HUGE_VAL), std::exp(-3.0));
  EXPECT_NEAR(inclusion_probability(0, 0), 1 - std::exp(-1.0), 1e-15);
  EXPECT_NEAR(inclusion_probability(-50, -3) / std::exp(-47.0), 1, 1e-14);
  EXPECT_NEAR(horvitz_thompson_weight(-50, -3) / std::exp(-3.0), 1, 1e-14);
  EXPECT_NEAR(horvitz_thompson_weight(-1000, -3) / std::exp(-3.0), 1, 1e-14);  // p is 0 in double.
  EXPECT_NEAR(horvitz_thompson_weight(-1, -30), std::exp(-1.0), 1e-15);
  const std::vector<double> weights{0.5, 0.25, 0.5};
  const std::vector<double> values{1, 2, 4};
  EXPECT_DOUBLE_EQ(estimate(weights, values), 3.0);
  EXPECT_DOUBLE_EQ(estimate(weights, values, true), 3.0 / 1.25);
  std::vector<double> normalized(3);
  normalize_weights(weights, normalized);
  EXPECT_EQ(normalized, (std::vector<double>{0.4, 0.2, 0.4}));
  expect_misuse("estimate", [&] { estimate(weights, std::span(values).first(2)); });
  expect_misuse("normalize_weights",
                [&] { normalize_weights(weights, std::span(normalized).first(2)); });
}

}  // namespace
}  // namespace taproot
