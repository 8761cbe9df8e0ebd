// SPDX-License-Identifier: Apache-2.0
#include "core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/extreme_value.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <set>
#include <vector>

#include "unit/core/targets.h"

namespace taproot::detail {
namespace {

constexpr std::uint64_t kOnes = std::numeric_limits<std::uint64_t>::max();
constexpr int kDraws = 1'000'000;
constexpr double kFalseAlarm = 1e-8;

std::vector<std::uint64_t> first_bits(Stream stream, int count) {
  std::vector<std::uint64_t> bits;
  for (int i = 0; i < count; ++i) bits.push_back(stream.bits());
  return bits;
}

// --- The generator

struct KnownAnswer {
  r123::Philox4x32::ctr_type counter;
  r123::Philox4x32::key_type key;
  r123::Philox4x32::ctr_type answer;
};

// The three "philox4x32 10" lines of tests/kat_vectors in Random123 1.14.
const KnownAnswer kKnownAnswers[] = {
    {{{0, 0, 0, 0}}, {{0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     {{0xffffffff, 0xffffffff}},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     {{0xa4093822, 0x299f31d0}},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

// The stream of devices has the draws of the host's, from any place on.
TEST(PlainStream, IsTheSameStream) {
  detail::Stream stream(stream_key(77, 5), 9, detail::Purpose::kTree);
  std::vector<std::uint64_t> draws;
  for (int d = 0; d < 100; ++d) draws.push_back(stream.bits());
  for (const std::uint64_t first : {0U, 1U, 2U, 31U, 64U}) {
    detail::PlainStream plain(stream_key(77, 5), 9, detail::Purpose::kTree, first);
    for (std::uint64_t d = first; d < 100; ++d) EXPECT_EQ(plain.bits(), draws[d]) << first;
  }
}

TEST(Philox, GivesThePublishedAnswers) {
  for (const KnownAnswer& known : kKnownAnswers) {
    EXPECT_EQ(r123::Philox4x32()(known.counter, known.key), known.answer);
  }
}

constexpr std::uint64_t kSeed = 0x299f31d0a4093822;
constexpr std::uint64_t kId = 0x0370734413198a2e;  // Both halves of the id count.

// One block of Philox under the seed: counter (low, high half of the id, "TAPR", "OOT2").
TEST(StreamKey, IsABlockUnderTheSeed) {
  const auto word = r123::Philox4x32()({{0x13198a2e, 0x03707344, 0x54415052, 0x4f4f5432}},
                                       {{0xa4093822, 0x299f31d0}});
  const StreamKey key = stream_key(kSeed, kId);
  EXPECT_EQ(key.key[0], word[0]);
  EXPECT_EQ(key.key[1], word[1]);
  EXPECT_EQ(key.word, word[2]);
}

// Counter (block, sample, key word, purpose) under the key, two draws per block. The bits of the
// block beyond the 32nd stand above the purpose.
TEST(Stream, LaysOutItsCounterAsDocumented) {
  constexpr std::uint32_t kSample = 0x85a308d3;
  const StreamKey key = stream_key(kSeed, kId);
  for (const Purpose purpose :
       {Purpose::kTree, Purpose::kGumbel, Purpose::kKappa, Purpose::kBeam, Purpose::kLabel}) {
    for (const std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{0xabcdef} << 32, (std::uint64_t{1} << 32) - 6}) {
      Stream stream(key, kSample, purpose, first);
      for (std::uint64_t block = first; block < first + 1000; ++block) {
        const auto last =
            static_cast<std::uint32_t>(static_cast<std::uint64_t>(purpose) | block >> 32 << 8);
        const auto word =
            r123::Philox4x32()({{static_cast<std::uint32_t>(block), kSample, key.word, last}},
                               {{key.key[0], key.key[1]}});
        const PhiloxBlock alone = philox_block(key, kSample, purpose, block);
        ASSERT_EQ(alone.draws[0], static_cast<std::uint64_t>(word[1]) << 32 | word[0]);
        ASSERT_EQ(alone.draws[1], static_cast<std::uint64_t>(word[3]) << 32 | word[2]);
        ASSERT_EQ(stream.bits(), alone.draws[0]);
        ASSERT_EQ(stream.bits(), alone.draws[1]);
      }
    }
  }
}

// Batches of blocks are the same on every instruction set.
TEST(Stream, BatchesAreBlocks) {
  const StreamKey key = stream_key(kSeed, kId);
  for_each_target([&] {
    std::uint64_t draws[2 * kPhiloxBatch];
    const std::uint64_t first = (std::uint64_t{1} << 32) - 3;  // Carries into the purpose's word.
    philox_batch(key, 7, Purpose::kGumbel, first, draws);
    for (std::uint64_t i = 0; i < kPhiloxBatch; ++i) {
      const PhiloxBlock alone = philox_block(key, 7, Purpose::kGumbel, first + i);
      EXPECT_EQ(draws[2 * i], alone.draws[0]);
      EXPECT_EQ(draws[2 * i + 1], alone.draws[1]);
    }
  });
}

// The numbers are part of what a seed means: changing one changes everybody's trees.
TEST(Stream, PurposesHaveFixedNumbers) {
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kTree), 0U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kGumbel), 1U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kKappa), 2U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kBeam), 3U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kLabel), 4U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kFallback), 5U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kStack), 6U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kStackRest), 7U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kPlace), 8U);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::kPlaceRest), 9U);
}

TEST(Stream, StartsAgainFromTheSameArguments) {
  EXPECT_EQ(first_bits(Stream(stream_key(7, 3), 2, Purpose::kGumbel), 101),
            first_bits(Stream(stream_key(7, 3), 2, Purpose::kGumbel), 101));
}

TEST(Stream, CopiesItsPlaceAndThenGoesItsOwnWay) {
  for (int drawn = 0; drawn < 5; ++drawn) {  // Odd and even: within a block and between two.
    const std::vector<std::uint64_t> all =
        first_bits(Stream(stream_key(7, 3), 2, Purpose::kTree), drawn + 20);
    Stream stream(stream_key(7, 3), 2, Purpose::kTree);
    for (int i = 0; i < drawn; ++i) stream.bits();
    Stream copy = stream;
    const std::vector<std::uint64_t> rest(all.begin() + drawn, all.end());
    EXPECT_EQ(first_bits(copy, 20), rest);
    EXPECT_EQ(first_bits(stream, 20), rest);
  }
}

TEST(Stream, DoesNotDependOnWhatOthersDraw) {
  const std::vector<std::uint64_t> alone_a =
      first_bits(Stream(stream_key(1, 5), 0, Purpose::kTree), 50);
  const std::vector<std::uint64_t> alone_b =
      first_bits(Stream(stream_key(1, 5), 1, Purpose::kTree), 50);
  Stream b(stream_key(1, 5), 1, Purpose::kTree);
  Stream a(stream_key(1, 5), 0, Purpose::kTree);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(b.bits(), alone_b[i]);
    if (i % 3 == 0) (void)Stream(stream_key(1, 5), 2, Purpose::kTree).bits();
    EXPECT_EQ(a.bits(), alone_a[i]);
  }
}

TEST(Stream, DiffersWithEveryArgument) {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  const auto take = [&](const Stream& stream) {
    for (const std::uint64_t bits : first_bits(stream, 16)) {
      seen.insert(bits);
      ++drawn;
    }
  };
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32}) {
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xffffffff},
                                   std::uint64_t{1} << 32, kOnes}) {
      for (const std::uint32_t sample : {0U, 1U, 2U, 0xffffffffU}) {
        for (const Purpose purpose : {Purpose::kTree, Purpose::kGumbel, Purpose::kKappa}) {
          take(Stream(stream_key(seed, id), sample, purpose));
        }
      }
    }
  }
  // 2880 draws of 64 bits: two alike have probability 2.3e-13.
  EXPECT_EQ(seen.size(), drawn);
}

TEST(Stream, MakesItsDrawsFromTheBitsInOrder) {
  const std::vector<std::uint64_t> bits =
      first_bits(Stream(stream_key(9, 1), 4, Purpose::kGumbel), 5);
  Stream stream(stream_key(9, 1), 4, Purpose::kGumbel);
  EXPECT_EQ(stream.exponential(), to_exponential(bits[0], bits[1]));
  EXPECT_EQ(stream.uniform(), to_uniform(bits[2]));
  EXPECT_EQ(stream.gumbel(), to_gumbel(bits[3], bits[4]));
}

// --- The ends of the intervals

TEST(Uniform, IsAMultipleOfTwoToMinus53InZeroToOneWithoutOne) {
  EXPECT_EQ(to_uniform(0), 0.0);
  EXPECT_EQ(to_uniform(kOnes), 1 - 0x1p-53);
  EXPECT_EQ(to_uniform(std::uint64_t{1} << 63), 0.5);
  EXPECT_EQ(to_uniform(std::uint64_t{1} << 11), 0x1p-53);
  EXPECT_EQ(to_uniform((std::uint64_t{1} << 11) - 1), 0.0);
}

TEST(SmallUniform, LiesBetweenTwoToMinus66AndOneHalf) {
  EXPECT_EQ(to_small_uniform(0, 0), 0x1p-66);
  EXPECT_EQ(to_small_uniform(0, kOnes), std::nextafter(0x1p-65, 0));
  EXPECT_EQ(to_small_uniform(kOnes, 0), 0.25);
  EXPECT_EQ(to_small_uniform(kOnes, kOnes), std::nextafter(0.5, 0));
  EXPECT_EQ(to_small_uniform(1, 0), 0x1p-65);
  EXPECT_EQ(to_small_uniform(1, std::uint64_t{1} << 12), std::nextafter(0x1p-65, 1));
  EXPECT_EQ(to_small_uniform(1, (std::uint64_t{1} << 12) - 1), 0x1p-65);
}

// 2^(63-k) of the 2^64 magnitudes have k leading zeros, so [2^-(k+2), 2^-(k+1)), which is 2^-(k+1)
// of the interval, has just that probability.
TEST(SmallUniform, ChoosesItsBinadeByTheLeadingZeros) {
  for (int zeros = 0; zeros < 64; ++zeros) {
    const std::uint64_t top = (std::uint64_t{1} << 63) >> zeros;
    const double low = std::ldexp(1.0, -2 - zeros);
    EXPECT_EQ(to_small_uniform(top, 0), low);
    EXPECT_EQ(to_small_uniform(kOnes >> zeros, 0), low);
    EXPECT_EQ(to_small_uniform(top, kOnes), std::nextafter(2 * low, 0));
  }
}

TEST(Exponential, LiesBetweenTwoToMinus66And66Ln2) {
  constexpr double kTop = 66 * std::numbers::ln2;
  EXPECT_EQ(to_exponential(0, 0), 0x1p-66);  // -log(1 - x) = x + x^2/2 + ...
  EXPECT_NEAR(to_exponential(0, 1), kTop, 1e-14);
  // The two halves meet at the median.
  EXPECT_NEAR(to_exponential(kOnes, kOnes - 1), std::numbers::ln2, 1e-15);
  EXPECT_NEAR(to_exponential(kOnes, kOnes), std::numbers::ln2, 1e-15);
  EXPECT_LE(to_exponential(kOnes, kOnes - 1), to_exponential(kOnes, kOnes));
}

TEST(Gumbel, LiesBetweenMinusLogOf66Ln2And66Ln2) {
  constexpr double kTop = 66 * std::numbers::ln2;
  EXPECT_NEAR(to_gumbel(0, 0), kTop, 1e-14);
  EXPECT_NEAR(to_gumbel(0, 1), -std::log(kTop), 1e-15);
}

// --- Distributions

// Kolmogorov and Smirnov: the largest distance between the draws and F. The limit is Massart's
// bound, P(D > d) <= 2 exp(-2 N d^2), for the false alarm above.
template <typename Cdf>
bool follows(std::vector<double> draws, Cdf&& cdf) {
  std::sort(draws.begin(), draws.end());
  const auto count = static_cast<double>(draws.size());
  double distance = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double f = cdf(draws[i]);
    distance = std::max(
        {distance, f - static_cast<double>(i) / count, static_cast<double>(i + 1) / count - f});
  }
  return distance <= std::sqrt(std::log(2 / kFalseAlarm) / (2 * count));
}

// Pearson's chi-square against equal probabilities.
bool is_flat(const std::vector<int>& counts) {
  double total = 0;
  for (const int count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double statistic = 0;
  for (const int count : counts) statistic += (count - expected) * (count - expected) / expected;
  const boost::math::chi_squared law(static_cast<double>(counts.size() - 1));
  return statistic <= boost::math::quantile(boost::math::complement(law, kFalseAlarm));
}

template <typename Draw>
std::vector<double> draw_many(std::uint64_t seed, Draw&& draw) {
  Stream stream(stream_key(seed, 0), 0, Purpose::kTree);
  std::vector<double> draws;
  draws.reserve(kDraws);
  for (int i = 0; i < kDraws; ++i) draws.push_back(draw(stream));
  return draws;
}

// The bits of a draw from 2^-skip down, 8 of them.
template <typename Draw>
std::vector<int> count_digits(int skip, std::uint64_t seed, Draw&& draw) {
  std::vector<int> counts(256, 0);
  Stream stream(stream_key(seed, 0), 0, Purpose::kTree);
  for (int i = 0; i < kDraws; ++i) {
    const double shifted = std::ldexp(draw(stream), skip);
    ++counts[static_cast<std::size_t>((shifted - std::floor(shifted)) * 256)];
  }
  return counts;
}

double uniform_cdf(double x) { return x; }
double exponential_cdf(double x) { return -std::expm1(-x); }
double gumbel_cdf(double x) { return boost::math::cdf(boost::math::extreme_value(0, 1), x); }

TEST(Uniform, IsUniformDownToItsLastBits) {
  const auto draw = [](Stream& s) { return s.uniform(); };
  EXPECT_TRUE(follows(draw_many(1, draw), uniform_cdf));
  for (const int skip : {0, 8, 16, 24, 32, 40, 45}) {
    EXPECT_TRUE(is_flat(count_digits(skip, 2, draw))) << skip;
  }
}

// Shows that the test above can fail: 24 bits pass for uniform until one looks at the 25th.
TEST(Uniform, OfOnly24BitsWouldBeFound) {
  const auto narrow = [](Stream& s) { return static_cast<double>(s.bits() >> 40) * 0x1p-24; };
  EXPECT_TRUE(is_flat(count_digits(8, 2, narrow)));
  EXPECT_FALSE(is_flat(count_digits(24, 2, narrow)));
}

TEST(Uniform, PairsOfDrawsAreIndependent) {
  std::vector<int> counts(32 * 32, 0);
  Stream stream(stream_key(3, 0), 0, Purpose::kTree);
  for (int i = 0; i < kDraws; ++i) {
    const auto row = static_cast<std::size_t>(stream.uniform() * 32);
    ++counts[row * 32 + static_cast<std::size_t>(stream.uniform() * 32)];
  }
  EXPECT_TRUE(is_flat(counts));
}

TEST(Uniform, FirstDrawsOfNeighboringStreamsAreIndependent) {
  std::vector<double> by_sample;
  std::vector<double> by_sentence;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    by_sample.push_back(Stream(stream_key(4, 0), i, Purpose::kTree).uniform());
    by_sentence.push_back(Stream(stream_key(4, i), 0, Purpose::kTree).uniform());
  }
  EXPECT_TRUE(follows(by_sample, uniform_cdf));
  EXPECT_TRUE(follows(by_sentence, uniform_cdf));
  std::vector<int> counts(32 * 32, 0);
  for (std::size_t i = 0; i + 1 < by_sample.size(); i += 2) {
    ++counts[static_cast<std::size_t>(by_sample[i] * 32) * 32 +
             static_cast<std::size_t>(by_sample[i + 1] * 32)];
  }
  EXPECT_TRUE(is_flat(counts));
}

TEST(SmallUniform, IsUniformBelowOneHalf) {
  const auto draw = [](Stream& s) {
    const std::uint64_t magnitude = s.bits();
    return to_small_uniform(magnitude, s.bits());
  };
  EXPECT_TRUE(follows(draw_many(5, draw), [](double x) { return 2 * x; }));
}

TEST(Exponential, HasMeanOneLaw) {
  const auto draw = [](Stream& s) { return s.exponential(); };
  EXPECT_TRUE(follows(draw_many(6, draw), exponential_cdf));
}

TEST(Gumbel, HasItsLaw) {
  const auto draw = [](Stream& s) { return s.gumbel(); };
  EXPECT_TRUE(follows(draw_many(7, draw), gumbel_cdf));
}

TEST(Gumbel, FromAWrongFormulaWouldBeFound) {
  const auto one_log = [](Stream& s) { return s.exponential(); };
  EXPECT_FALSE(follows(draw_many(7, one_log), gumbel_cdf));
  const auto flipped = [](Stream& s) { return -s.gumbel(); };
  EXPECT_FALSE(follows(draw_many(7, flipped), gumbel_cdf));
  // One half of the law alone: the side bit forgotten.
  const auto one_sided = [](Stream& s) {
    const std::uint64_t magnitude = s.bits();
    return to_gumbel(magnitude, s.bits() & ~std::uint64_t{1});
  };
  EXPECT_FALSE(follows(draw_many(7, one_sided), gumbel_cdf));
}

// --- Tails, too rare to be met by chance: their bits are forced, the others drawn.

// Draws whose small uniform is below 2^-(zeros+1), on one side of the median.
std::vector<double> draw_tail(int zeros, bool upper, std::uint64_t seed) {
  return draw_many(seed, [=](Stream& s) {
    const std::uint64_t magnitude = s.bits() >> zeros;
    const std::uint64_t fraction = s.bits();
    return to_exponential(magnitude, upper ? fraction | 1 : fraction & ~std::uint64_t{1});
  });
}

TEST(Exponential, IsResolvedNearZero) {
  for (const int zeros : {15, 30, 50}) {
    const double below = std::ldexp(1.0, -zeros - 1);  // P(E < x) on that side is the uniform.
    const auto cdf = [=](double x) { return -std::expm1(-x) / below; };
    EXPECT_TRUE(follows(draw_tail(zeros, false, 8), cdf)) << zeros;
  }
}

// P(E < 2^-20) = 1 - exp(-2^-20), of which the side and 15 zeros make 2^-16 certain.
TEST(Exponential, IsBelowTwoToMinus20AsOftenAsItShouldBe) {
  const double p = -std::expm1(-0x1p-20) / 0x1p-16;
  double count = 0;
  for (const double draw : draw_tail(15, false, 9)) count += draw < 0x1p-20 ? 1 : 0;
  // Six standard deviations are a false alarm of 2e-9.
  EXPECT_NEAR(count, kDraws * p, 6 * std::sqrt(kDraws * p * (1 - p)));
}

// It has no memory: beyond a ln 2 it is exponential again.
TEST(Exponential, IsResolvedFarOut) {
  for (const int zeros : {15, 30, 40}) {
    const double from = (zeros + 1) * std::numbers::ln2;
    const auto cdf = [=](double x) { return -std::expm1(from - x); };
    EXPECT_TRUE(follows(draw_tail(zeros, true, 10), cdf)) << zeros;
  }
}

// What a uniform of 53 bits would make of the same tail.
TEST(Exponential, FromAPlainUniformWouldBeFound) {
  const std::vector<double> draws =
      draw_many(8, [](Stream& s) { return -std::log1p(-to_uniform(s.bits() >> 50)); });
  EXPECT_FALSE(follows(draws, [](double x) { return -std::expm1(-x) / 0x1p-50; }));
}

}  // namespace
}  // namespace taproot::detail
