// SPDX-License-Identifier: Apache-2.0
#include "lanes/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "lanes/lanes.h"

namespace taproot::detail {
namespace {

const double kNumber = 0;

LaneGroups groups_of(const std::vector<int>& lengths) {
  std::vector<ScoreView> views;
  for (const int n : lengths) views.emplace_back(&kNumber, n);
  return LaneGroups(views);
}

TEST(Groups, HoldEverySentenceOnce) {
  std::vector<int> lengths;
  for (int b = 0; b < 1000; ++b) lengths.push_back(b * 37 % 41);
  const LaneGroups groups = groups_of(lengths);
  std::vector<std::size_t> all(groups.single().begin(), groups.single().end());
  int shortest = kMostLaneWords;
  for (std::size_t g = 0; g < groups.count(); ++g) {
    EXPECT_TRUE(groups.group(g).size() == kLaneGroup || g + 1 == groups.count());
    for (const std::size_t b : groups.group(g)) {
      all.push_back(b);
      EXPECT_GE(lengths[b], 1);
      EXPECT_LE(lengths[b], shortest);  // Longest first.
      shortest = lengths[b];
    }
  }
  EXPECT_GT(all.size() - groups.single().size(), 700U);
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> expected(lengths.size());
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  EXPECT_EQ(all, expected);
}

TEST(Groups, AreMadeWhereTheyPay) {
  EXPECT_EQ(groups_of({}).count(), 0U);
  EXPECT_EQ(groups_of({20}).count(), 0U);
  EXPECT_EQ(groups_of(std::vector<int>(8, 20)).group(0).size(), 8U);
  EXPECT_EQ(groups_of(std::vector<int>(8, 33)).single().size(), 8U);
  EXPECT_EQ(groups_of(std::vector<int>(8, 0)).single().size(), 8U);
  // One long sentence beside seven short ones: a group would take as long as eight long ones.
  EXPECT_EQ(groups_of({32, 3, 3, 3, 3, 3, 3, 3}).count(), 0U);
  // Two groups of eight, and one that does not fill a group.
  const LaneGroups groups = groups_of(std::vector<int>(17, 12));
  EXPECT_EQ(groups.count(), 2U);
  EXPECT_EQ(groups.single().size(), 1U);
}

}  // namespace
}  // namespace taproot::detail
