// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/vector_cache.h"

#include <gtest/gtest.h>

namespace taproot::detail {
namespace {

// Owners are tracked by hand: whoever was evicted has no slot, everybody else finds their value.
TEST(VectorCache, EvictsWhatWasNotUsed) {
  constexpr std::size_t kLength = 16;
  constexpr std::size_t kLimit = 400 * (kLength * sizeof(double) + 16);
  VectorCache<double> cache;
  cache.reset(kLength);
  std::vector<std::int32_t> slots(5000, VectorCache<double>::kNone);
  const auto evict = [&](std::uint64_t owner) { slots[owner] = VectorCache<double>::kNone; };
  int lost = 0;
  for (std::size_t owner = 0; owner < slots.size(); ++owner) {
    slots[owner] = cache.take(owner, kLimit, evict);
    ASSERT_NE(slots[owner], VectorCache<double>::kNone);
    *cache.data(slots[owner]) = static_cast<double>(owner);
    if (slots[0] == VectorCache<double>::kNone) {
      ++lost;
      slots[0] = cache.take(0, kLimit, evict);
    }
    *cache.data(slots[0]) = 0;  // Always in use.
    EXPECT_LE(cache.bytes(), 2 * kLimit);
  }
  std::size_t kept = 0;
  for (std::size_t owner = 0; owner < slots.size(); ++owner) {
    if (slots[owner] == VectorCache<double>::kNone) continue;
    EXPECT_EQ(*cache.data(slots[owner]), static_cast<double>(owner));
    ++kept;
  }
  EXPECT_LE(lost, 1);  // On the hand's first round everyone looks used.
  EXPECT_GE(kept, 256U);
  EXPECT_LE(kept, 400U);
  cache.shrink(0, evict);
  EXPECT_EQ(cache.bytes(), 0U);
  for (const std::int32_t slot : slots) EXPECT_EQ(slot, VectorCache<double>::kNone);
  EXPECT_EQ(cache.take(1, 0, evict), VectorCache<double>::kNone);
}

}  // namespace
}  // namespace taproot::detail
