// SPDX-License-Identifier: Apache-2.0
#include "core/scaled_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "testing/real.h"

namespace taproot::detail {
namespace {

using oracle::PrecisionScope;
using oracle::Real;

constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = std::numeric_limits<double>::max();

ScaledProduct product_of(const std::vector<double>& factors) {
  ScaledProduct product;
  for (const double factor : factors) product.multiply(factor);
  return product;
}

TEST(ScaledProduct, OfNothingIsOne) {
  EXPECT_EQ(ScaledProduct().mantissa(), 1.0);
  EXPECT_EQ(ScaledProduct().exponent(), 0.0);
}

TEST(ScaledProduct, OfPowersOfTwoIsExact) {
  for (const double factor :
       {kSmallest, 0x1p-1022, 0x1p-251, 0x1p-250, 0x1p-1, 1.0, 0x1p250, 0x1p251, 0x1p1023}) {
    constexpr int kCount = 100000;
    const ScaledProduct product = product_of(std::vector<double>(kCount, factor));
    EXPECT_EQ(std::log2(product.mantissa()) + product.exponent(), kCount * std::log2(factor));
  }
}

// Every factor rounds at most once.
TEST(ScaledProduct, IsAsAccurateAsItsRoundings) {
  const PrecisionScope scope(60);
  Stream stream(stream_key(1, 0), 0, Purpose::kTree);
  ScaledProduct product;
  Real exact = 1;
  for (int i = 1; i <= 20000; ++i) {
    // Over the whole range, subnormal included, most often near 1.
    const double spread = i % 3 == 0 ? 2090 : 40;
    const double factor =
        std::min(kLargest, (1 + stream.uniform()) *
                               std::exp2(std::floor((stream.uniform() - 0.51) * spread)));
    product.multiply(factor);
    exact *= Real(factor);
    ASSERT_GT(product.mantissa(), 0x1p-501);
    ASSERT_LT(product.mantissa(), 0x1p501);
    ASSERT_EQ(product.exponent(), std::floor(product.exponent()));
    if (i % 100 != 0) continue;
    const Real value = ldexp(Real(product.mantissa()), static_cast<long>(product.exponent()));
    ASSERT_LE(abs(value / exact - 1), Real(i) * ldexp(Real(1), -53) * Real(1.01));
  }
}

TEST(ScaledProduct, KeepsLargestAndSmallestApart) {
  std::vector<double> factors(1000, kLargest);
  const ScaledProduct large = product_of(factors);
  EXPECT_EQ(log2_ratio(large, large), 0.0);
  factors.assign(1000, kSmallest);
  const ScaledProduct small = product_of(factors);
  // 2^1024 (1 - 2^-53) and 2^-1074, a thousand times each.
  EXPECT_NEAR(log2_ratio(large, small), 2098000, 1e-9);
  EXPECT_NEAR(log2_ratio(small, large), -2098000, 1e-9);
}

TEST(ScaledProduct, RatioOfEqualExponentsIsTheMantissas) {
  EXPECT_EQ(log2_ratio(product_of({8.0}), product_of({2.0})), 2.0);
  EXPECT_EQ(log2_ratio(product_of({0x1p600, 0x1p600}), product_of({0x1p-600})), 1800.0);
}

TEST(ScaledProduct, CarriesZeroInfinityAndNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double other : {1.0, 0x1p300, 0x1p-300}) {
    EXPECT_EQ(product_of({other, 0.0, other}).mantissa(), 0.0);
    EXPECT_EQ(product_of({other, HUGE_VAL, other}).mantissa(), HUGE_VAL);
    EXPECT_TRUE(std::isnan(product_of({other, nan, other}).mantissa()));
    EXPECT_TRUE(std::isfinite(product_of({other, 0.0, other}).exponent()));
    EXPECT_TRUE(std::isfinite(product_of({other, HUGE_VAL, other}).exponent()));
    EXPECT_TRUE(std::isfinite(product_of({other, nan, other}).exponent()));
  }
}

}  // namespace
}  // namespace taproot::detail
