// SPDX-License-Identifier: Apache-2.0
#include "sample/walk/alias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace taproot::detail {
namespace {

// Every index comes as often as its weight says, those of weight zero never; both layouts.
TEST(Alias, DrawsByWeight) {
  for (const int count : {1, 2, 7, 100, 2048, 2049, 3000}) {
    std::vector<double> weights(static_cast<std::size_t>(count));
    Stream stream(stream_key(3, 0), static_cast<std::uint32_t>(count), Purpose::kTree);
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      double& w = weights[static_cast<std::size_t>(i)];
      w = i % 3 == 1 ? 0 : std::exp(4 * stream.uniform());
      sum += w;
    }
    std::vector<std::uint32_t> words(static_cast<std::size_t>(count * alias_planes(count)));
    const AliasPlanes<std::uint32_t> planes =
        alias_planes_at(words.data(), count, static_cast<std::size_t>(count), std::size_t{0});
    std::vector<double> scratch(static_cast<std::size_t>(count));
    std::vector<std::int32_t> work(static_cast<std::size_t>(2 * count + 2));
    fill_alias(weights.data(), count, planes, scratch.data(), work.data(), work.data() + count);
    // The table's own law, slot by slot.
    std::vector<double> law(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool packed = count <= kMostPacked;
      const std::uint32_t first = planes.first[at];
      const std::uint32_t alias = packed ? first & kAliasMask : planes.alias[at];
      const double top = packed ? (first >> kAliasBits) * 0x1p-21 : first * 0x1p-32;
      const double own = top + planes.rest[at] * (packed ? 0x1p-53 : 0x1p-64);
      law[at] += own / count;
      law[alias] += (1 - own) / count;
    }
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (weights[at] == 0) {
        EXPECT_EQ(law[at], 0) << i;
      }
      EXPECT_NEAR(law[at], weights[at] / sum, 1e-15 * count) << i;
    }
  }
}

// The high half of the bits either selects what all of them do or leaves the choice open, which it
// must where the low half decides.
TEST(Alias, TheHighHalfIsRightOrLeavesTheChoiceOpen) {
  for (const int count : {1, 2, 3, 7, 100, 2047, 2048}) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(2 * count));
    const auto planes =
        alias_planes_at(words.data(), count, static_cast<std::size_t>(count), std::size_t{0});
    Stream stream(stream_key(4, 0), static_cast<std::uint32_t>(count), Purpose::kTree);
    int decided_by_the_rest = 0;
    for (int round = 0; round < 20000; ++round) {
      const auto high = static_cast<std::uint32_t>(stream.bits());
      const std::uint64_t product = std::uint64_t{high} * static_cast<std::uint32_t>(count);
      const auto index = static_cast<std::int32_t>(product >> 32);
      const auto low = static_cast<std::uint32_t>(product);
      // The slot's threshold is what the draw is compared with, or near it; or random.
      const std::uint64_t around = low + stream.bits() % static_cast<std::uint64_t>(count);
      const std::uint64_t threshold =
          round % 2 == 0 ? around << 21 | stream.bits() >> 43 : stream.bits() >> 11;
      const std::uint64_t near = threshold >> 32 & ((1U << 21) - 1);
      planes.first[index] = static_cast<std::uint32_t>(near) << kAliasBits |
                            static_cast<std::uint32_t>((index + 1) % count);
      planes.rest[index] = static_cast<std::uint32_t>(threshold);
      const int chosen = choose_alias_by_high(planes.first, count, high);
      const AliasTable table{planes.first, planes.rest, nullptr};
      const auto by_all = [&](std::uint32_t rest) {
        return choose_alias(table, count, std::uint64_t{high} << 32 | rest, [] { return 0U; });
      };
      const bool differ = by_all(0) != by_all(~0U);
      decided_by_the_rest += differ ? 1 : 0;
      if (differ) {
        EXPECT_EQ(chosen, -1);
      }
      for (const std::uint32_t rest : {0U, ~0U, static_cast<std::uint32_t>(stream.bits())}) {
        if (chosen >= 0) {
          EXPECT_EQ(chosen, by_all(rest));
        }
      }
      if (round % 2 == 1 && chosen < 0) {  // Choices are open rarely.
        EXPECT_TRUE(near - (low >> 11) <= 1 || low >= 0U - static_cast<std::uint32_t>(count));
      }
    }
    if (count > 1) {
      EXPECT_GT(decided_by_the_rest, 1000) << count;
    }
  }
}

}  // namespace
}  // namespace taproot::detail
