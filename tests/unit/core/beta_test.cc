// SPDX-License-Identifier: Apache-2.0
#include "core/beta.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/beta.hpp>
#include <cmath>

namespace taproot::detail {
namespace {

TEST(BetaQuantile, IsBoosts) {
  for (const double a : {0.5, 1.0, 3.25, 15.5, 400.0, 1e6}) {
    for (const double b : {0.5, 1.5, 29.5, 1e3, 1e6}) {
      for (const double probability : {1e-6, 0.025, 0.5, 0.975, 1 - 1e-6}) {
        const boost::math::beta_distribution law(a, b);
        const double expected = boost::math::quantile(law, probability);
        EXPECT_NEAR(beta_quantile(probability, a, b) / expected, 1, 1e-8)
            << a << " " << b << " " << probability;
      }
    }
  }
}

TEST(BetaQuantile, OfNothingIsNothing) {
  EXPECT_TRUE(std::isnan(beta_quantile(NAN, 1, 1)));
  EXPECT_TRUE(std::isnan(beta_quantile(0.5, NAN, 1)));
  EXPECT_TRUE(std::isnan(beta_quantile(0.5, 1, NAN)));
}

}  // namespace
}  // namespace taproot::detail
