// SPDX-License-Identifier: Apache-2.0
#include "sample/walk/alias.h"

#include <gtest/gtest.h>

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
    std::vector<AliasSlot> slots(static_cast<std::size_t>(count * alias_words(count)));
    std::vector<double> scratch(static_cast<std::size_t>(count));
    std::vector<std::int32_t> work(static_cast<std::size_t>(2 * count + 2));
    fill_alias(weights.data(), count, slots.data(), scratch.data(), work.data(),
               work.data() + count);
    // The table's own law, slot by slot.
    std::vector<double> law(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool packed = count <= kMostPacked;
      const std::uint64_t kappa = packed ? slots[at] & ~kAliasMask : slots[2 * at];
      const std::uint64_t alias = packed ? slots[at] & kAliasMask : slots[2 * at + 1];
      const double own = static_cast<double>(kappa) * 0x1p-64;
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

}  // namespace
}  // namespace taproot::detail
