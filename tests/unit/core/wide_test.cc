// SPDX-License-Identifier: Apache-2.0
#include "core/wide.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
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

// Enough digits for a sum whose terms lie 2^200 apart to be exact.
constexpr int kDigits = 150;

Real value_of(Wide x) { return ldexp(Real(x.mantissa()), static_cast<long>(x.exponent())); }

// The number rounded to 53 bits, as double would if its exponent never ended.
Real rounded(const Real& x) {
  Real result(x);
  mpfr_prec_round(result.backend().data(), 53, MPFR_RNDN);
  return Real(result, static_cast<unsigned>(kDigits));
}

void expect_normal(Wide x) {
  if (x.is_zero()) {
    EXPECT_EQ(x.exponent(), 0);
  } else {
    EXPECT_GE(std::abs(x.mantissa()), 1);
    EXPECT_LT(std::abs(x.mantissa()), 2);
  }
}

// Signed doubles whose mantissas are often short, so that ties and exact cancellation occur.
double random_mantissa(Stream& stream) {
  const std::uint64_t bits = stream.bits();
  const int kept = static_cast<int>(bits % 54);
  double x = std::ldexp(std::floor(std::ldexp(1 + stream.uniform(), kept)), -kept);
  if ((bits >> 8 & 7) == 0) x = std::nextafter(2.0, 0.0);
  return (bits >> 16 & 1) != 0 ? -x : x;
}

std::int64_t random_exponent(Stream& stream, std::int64_t size) {
  return static_cast<std::int64_t>(stream.bits() % static_cast<std::uint64_t>(2 * size + 1)) - size;
}

TEST(Wide, KeepsEveryDouble) {
  Stream stream(stream_key(1, 0), 0, Purpose::kTree);
  std::vector<double> values = {0.0,       1.0,        -1.0,         0.1,
                                kSmallest, -kSmallest, kLargest,     -kLargest,
                                0x1p-1022, 0x1p-1030,  -0x1.8p-1070, std::nextafter(0x1p-1022, 0)};
  for (int i = 0; i < 20000; ++i) {
    const double x = std::bit_cast<double>(stream.bits());
    if (std::isfinite(x)) values.push_back(x);
    values.push_back(std::bit_cast<double>(stream.bits() >> 12));  // Subnormal.
  }
  for (const double x : values) {
    expect_normal(x);
    EXPECT_EQ(Wide(x).to_double(), x);
    EXPECT_EQ(to_double(Wide(x)), to_double(x));
  }
}

TEST(Wide, NormalizesAnyMantissa) {
  EXPECT_EQ(Wide(12.0, 7), Wide(1.5, 10));
  EXPECT_EQ(Wide(kSmallest, 2000), Wide(1.0, 2000 - 1074));
  EXPECT_EQ(Wide(-0x1.8p-1070, -5), Wide(-1.5, -1075));
  EXPECT_EQ(Wide(kLargest, 1), Wide(std::nextafter(2.0, 0.0), 1024));
  expect_normal(Wide(12.0, 7));
}

TEST(Wide, HasOneZero) {
  EXPECT_TRUE(Wide(0.0).is_zero());
  EXPECT_TRUE(Wide(0.0, 1234567).is_zero());
  EXPECT_EQ(Wide(0.0, 1234567), Wide(0.0));
  EXPECT_EQ(Wide(-0.0), Wide(0.0));
  EXPECT_FALSE(Wide(kSmallest).is_zero());
  EXPECT_FALSE(Wide(1.0, -1'000'000'000'000'000).is_zero());
}

TEST(Wide, ZeroIsNeutralAndAbsorbs) {
  const Wide huge(1.25, 5000);
  EXPECT_EQ(huge + 0.0, huge);
  EXPECT_EQ(Wide(0.0) + huge, huge);
  EXPECT_EQ(huge - 0.0, huge);
  EXPECT_EQ(Wide(0.0) - huge, -huge);
  EXPECT_TRUE((huge * 0.0).is_zero());
  EXPECT_TRUE((Wide(0.0) * huge).is_zero());
  EXPECT_TRUE((Wide(0.0) / huge).is_zero());
  EXPECT_TRUE((huge - huge).is_zero());
}

// a op b is the exact result rounded to nearest, ties to even, whatever the exponents.
void expect_correctly_rounded(Wide a, Wide b) {
  const Real x = value_of(a);
  const Real y = value_of(b);
  EXPECT_EQ(value_of(a + b), rounded(x + y));
  EXPECT_EQ(value_of(a - b), rounded(x - y));
  EXPECT_EQ(value_of(a * b), rounded(x * y));
  // The quotient of 53-bit numbers is no tie, so rounding it twice does no harm.
  EXPECT_EQ(value_of(a / b), rounded(x / y));
  for (const Wide result : {a + b, a - b, a * b, a / b, -a}) expect_normal(result);
}

TEST(Wide, RoundsSumsProductsAndQuotientsOnceLikeDouble) {
  const PrecisionScope scope(kDigits);
  Stream stream(stream_key(2, 0), 0, Purpose::kTree);
  for (int i = 0; i < 50000; ++i) {
    const std::int64_t base = random_exponent(stream, i % 2 == 0 ? 50 : 100000);
    const Wide a(random_mantissa(stream), base);
    const Wide b(random_mantissa(stream), base + random_exponent(stream, 80));
    ASSERT_NO_FATAL_FAILURE(expect_correctly_rounded(a, b));
    if (testing::Test::HasFailure()) {
      FAIL() << a.mantissa() << " " << a.exponent() << ", " << b.mantissa() << " " << b.exponent();
    }
  }
}

TEST(Wide, CancelsExactly) {
  const PrecisionScope scope(kDigits);
  Stream stream(stream_key(3, 0), 0, Purpose::kTree);
  for (int i = 0; i < 5000; ++i) {
    const double x = 1 + stream.uniform();
    const std::int64_t exponent = random_exponent(stream, 5000);
    const Wide a(x, exponent);
    const Wide b(std::nextafter(x, 0.0), exponent);  // Neighbors, at 1 also across a binade.
    EXPECT_EQ(value_of(a - b), value_of(a) - value_of(b));
    EXPECT_FALSE((a - b).is_zero());
    EXPECT_TRUE((a - a).is_zero());
  }
  expect_correctly_rounded(Wide(1.0, 3000), Wide(-std::nextafter(2.0, 0.0), 2999));
}

// The largest term stands, up to half a unit in its last place: 53 binades below 1, one more below
// a power of two that is subtracted from.
TEST(Wide, AddsWhatIsFarSmallerAsDoubleWould) {
  const PrecisionScope scope(kDigits);
  for (const double top : {1.0, 1.0 + 0x1p-52, std::nextafter(2.0, 0.0)}) {
    for (const double small : {1.0, 1.0 + 0x1p-52, 1.5, std::nextafter(2.0, 0.0)}) {
      for (std::int64_t shift = 50; shift <= 70; ++shift) {
        for (const std::int64_t base : {std::int64_t{0}, std::int64_t{-4000}}) {
          expect_correctly_rounded(Wide(top, base), Wide(small, base - shift));
          expect_correctly_rounded(Wide(small, base - shift), Wide(-top, base));
        }
      }
    }
  }
  EXPECT_EQ(Wide(1.0, 1'000'000'000'000'000) + Wide(1.0, -1'000'000'000'000'000),
            Wide(1.0, 1'000'000'000'000'000));
}

TEST(Wide, AgreesWithDoubleInItsRange) {
  Stream stream(stream_key(4, 0), 0, Purpose::kTree);
  for (int i = 0; i < 50000; ++i) {
    const double a =
        std::ldexp(random_mantissa(stream), static_cast<int>(random_exponent(stream, 400)));
    const double b =
        std::ldexp(random_mantissa(stream), static_cast<int>(random_exponent(stream, 400)));
    EXPECT_EQ((Wide(a) + b).to_double(), a + b);
    EXPECT_EQ((Wide(a) - b).to_double(), a - b);
    EXPECT_EQ((Wide(a) * b).to_double(), a * b);
    EXPECT_EQ((Wide(a) / b).to_double(), a / b);
    Wide sum(a);
    sum += b;
    EXPECT_EQ(sum.to_double(), a + b);
    Wide product(a);
    product *= b;
    EXPECT_EQ(product.to_double(), a * b);
  }
}

TEST(Wide, NeitherOverflowsNorUnderflows) {
  Wide power = 1.0;
  Wide inverse = 1.0;
  for (int i = 0; i < 1000; ++i) {
    power *= 0x1p1000;
    inverse = inverse / 0x1p1000;
  }
  EXPECT_EQ(power, Wide(1.0, 1'000'000));
  EXPECT_EQ(inverse, Wide(1.0, -1'000'000));
  EXPECT_EQ(power * inverse, Wide(1.0));
  EXPECT_EQ(inverse / power, Wide(1.0, -2'000'000));
  EXPECT_EQ((Wide(3.0) * power + power).exponent(), 1'000'002);
}

TEST(Wide, ToDoubleIsInfiniteBeyondTheRange) {
  EXPECT_EQ(Wide(std::nextafter(2.0, 0.0), 1023).to_double(), kLargest);
  for (const std::int64_t exponent : {std::int64_t{1024}, std::int64_t{1999}, std::int64_t{2000},
                                      std::int64_t{2001}, std::int64_t{1} << 40}) {
    EXPECT_EQ(Wide(1.0, exponent).to_double(), HUGE_VAL);
    EXPECT_EQ(Wide(-1.5, exponent).to_double(), -HUGE_VAL);
  }
}

TEST(Wide, ToDoubleRoundsOnceIntoTheSubnormals) {
  EXPECT_EQ(Wide(1.0, -1022).to_double(), 0x1p-1022);
  EXPECT_EQ(Wide(1.0, -1074).to_double(), kSmallest);
  EXPECT_EQ(Wide(1.0, -1075).to_double(), 0.0);  // A tie, to even.
  EXPECT_EQ(Wide(1.0 + 0x1p-52, -1075).to_double(), kSmallest);
  EXPECT_EQ(Wide(1.5, -1074).to_double(), 2 * kSmallest);  // A tie, to even.
  EXPECT_EQ(Wide(std::nextafter(1.5, 0.0), -1074).to_double(), kSmallest);
  EXPECT_EQ(Wide(std::nextafter(2.0, 0.0), -1076).to_double(), 0.0);
  EXPECT_EQ(Wide(std::nextafter(2.0, 0.0), -1023).to_double(), 0x1p-1022);
  EXPECT_EQ(Wide(-1.0, -1074).to_double(), -kSmallest);
  for (const std::int64_t exponent :
       {std::int64_t{-1999}, std::int64_t{-2000}, std::int64_t{-2001}, -(std::int64_t{1} << 40)}) {
    EXPECT_EQ(Wide(1.5, exponent).to_double(), 0.0);
    EXPECT_EQ(Wide(-1.5, exponent).to_double(), 0.0);
  }
}

}  // namespace
}  // namespace taproot::detail
