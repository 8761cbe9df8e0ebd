// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/tree_set.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/linear_congruential.h"

namespace taproot::detail {
namespace {

TEST(TreeSet, KnowsWhatItHas) {
  for (const std::size_t n : {1U, 3U, 4U, 9U}) {
    TreeSet set;
    set.reset(n);
    std::set<std::vector<std::int32_t>> reference;
    LinearCongruential random(1);
    for (int i = 0; i < 5000; ++i) {
      std::vector<std::int32_t> heads(n);
      for (std::int32_t& h : heads) h = static_cast<std::int32_t>(random.bits() >> 61);
      EXPECT_EQ(set.add(heads.data()), reference.insert(heads).second);
    }
    ASSERT_EQ(set.size(), reference.size());
    std::set<std::vector<std::int32_t>> kept;
    for (std::size_t i = 0; i < set.size(); ++i) kept.emplace(set[i], set[i] + n);
    EXPECT_EQ(kept, reference);
  }
}

}  // namespace
}  // namespace taproot::detail
