// SPDX-License-Identifier: Apache-2.0
#include "sample/walk/stacks.h"

#include <gtest/gtest.h>

#include <set>

namespace taproot::detail {
namespace {

// The format, written out: it decides which trees a seed gives.
TEST(Stacks, ABlockIsPhiloxOfItsPlace) {
  const StreamKey key = stream_key(77, 5);
  const std::uint64_t depth = (std::uint64_t{0xab} << 32) + 3;
  const r123::Philox4x32::ctr_type counter{{3, 9, key.word, 6 | 0x1234U << 8 | 0xabU << 24}};
  const auto r = r123::Philox4x32()(counter, {{key.key[0], key.key[1]}});
  const StackBlock block = stack_block(key, 9, Purpose::kStack, 0x1234, depth);
  for (unsigned e = 0; e < 4; ++e) {
    EXPECT_EQ(block.words[e], r[e]);
    const int m = static_cast<int>(4 * 0x1234 + e);
    EXPECT_EQ((Stacks{key, 9}.word(Purpose::kStack, m, depth)), r[e]);
  }
}

TEST(Stacks, ADrawHasItsHalvesFromTwoPurposes) {
  const Stacks stacks{stream_key(1, 2), 3};
  EXPECT_EQ(stacks.draw(6, 4) >> 32, stacks.word(Purpose::kStack, 6, 4));
  EXPECT_EQ(static_cast<std::uint32_t>(stacks.draw(6, 4)), stacks.word(Purpose::kStackRest, 6, 4));
  EXPECT_EQ(stacks.place(6, 4) >> 32, stacks.word(Purpose::kPlace, 6, 4));
  EXPECT_EQ(static_cast<std::uint32_t>(stacks.place(6, 4)), stacks.word(Purpose::kPlaceRest, 6, 4));
}

// No two places share their numbers: attempts, samples, purposes, words and depths all count.
TEST(Stacks, EveryPlaceHasNumbersOfItsOwn) {
  std::set<std::uint64_t> seen;
  std::size_t draws = 0;
  for (const std::uint32_t attempt : {0U, 1U, 2U, ~0U}) {
    for (const std::uint32_t sample : {0U, 1U, ~0U}) {
      const Stacks stacks{stream_key(4, 8, attempt), sample};
      for (const int m : {0, 1, 3, 4, 1000, kMostStackedWords - 1}) {
        for (const std::uint64_t depth :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32, kMostDepth - 1}) {
          seen.insert(stacks.draw(m, depth));
          seen.insert(stacks.place(m, depth));
          draws += 2;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), draws);
}

}  // namespace
}  // namespace taproot::detail
