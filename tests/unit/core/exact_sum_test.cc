// SPDX-License-Identifier: Apache-2.0
#include "core/exact_sum.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/linear_congruential.h"
#include "testing/real.h"

namespace taproot::detail {
namespace {

TEST(ExactSum, RoundsOnceWhateverTheTerms) {
  const oracle::PrecisionScope scope(900);
  LinearCongruential numbers(3);
  const auto random = [&] { return numbers.bits() >> 11; };
  for (int repetition = 0; repetition < 3000; ++repetition) {
    ExactSum sum;
    oracle::Real reference = 0;
    const int spread = repetition % 3 == 0 ? 1000 : 60;
    for (int i = 0; i < 20; ++i) {
      const double x = std::ldexp(
          static_cast<double>(random()) - 0x1p52,
          static_cast<int>(random() % static_cast<std::uint64_t>(spread)) - spread / 2 - 52);
      // Now and then a term comes back with the other sign: cancellation down to the last bits.
      const int times = random() % 4 == 0 ? 2 : 1;
      sum.add(x);
      reference += x;
      if (times == 2 && i % 2 == 0) {
        const double y = -x * (1 + 0x1p-50);
        sum.add(y);
        reference += y;
      }
    }
    EXPECT_EQ(sum.value(), reference.convert_to<double>());
    EXPECT_EQ(sum.sign(), reference.sign());
    ExactSum twice = sum;
    twice.add(sum);
    twice.subtract(sum);
    twice.subtract(sum);
    EXPECT_EQ(twice.sign(), 0);
    EXPECT_EQ(twice.value(), 0.0);
  }
}

// Terms in ascending order leave the most parts.
TEST(ExactSum, TakesAnyNumberOfTerms) {
  const oracle::PrecisionScope scope(900);
  LinearCongruential random(5);
  for (const int bits : {1, 24, 53}) {
    for (const double step : {0.7, 1.0, 2.2, 7.0, 30.0}) {
      ExactSum sum;
      oracle::Real reference = 0;
      for (int i = 0; i < 300 && -700 + step * i < 700; ++i) {
        const double mantissa = static_cast<double>(random.bits() >> (64 - bits)) + 1;
        const double x = std::ldexp(mantissa, static_cast<int>(-700 + step * i));
        sum.add(x);
        reference += x;
      }
      EXPECT_EQ(sum.value(), reference.convert_to<double>()) << bits << " " << step;
      ExactSum difference = sum;
      difference.subtract(sum);
      EXPECT_EQ(difference.sign(), 0);
    }
  }
}

TEST(ExactSum, RoundsTiesToEvenUnlessThereIsMore) {
  ExactSum tie;
  tie.add(1.0);
  tie.add(0x1p-53);
  EXPECT_EQ(tie.value(), 1.0);
  tie.add(0x1p-200);
  EXPECT_EQ(tie.value(), 1.0 + 0x1p-52);
  tie.add(-0x1p-199);
  EXPECT_EQ(tie.value(), 1.0);
}

}  // namespace
}  // namespace taproot::detail
