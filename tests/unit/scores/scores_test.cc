// SPDX-License-Identifier: Apache-2.0
#include "taproot/scores.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testing/misuse.h"

namespace taproot {
namespace {

// 0, 1, 2, ...: the value is the place.
template <typename Real>
std::vector<Real> places(std::size_t count) {
  std::vector<Real> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<Real>(i);
  return data;
}

// S(h, m) == origin + h * head_stride + m * modifier_stride.
void expect_strides(const ScoreView& view, int n, std::ptrdiff_t origin, std::ptrdiff_t head_stride,
                    std::ptrdiff_t modifier_stride) {
  ASSERT_EQ(view.n(), n);
  EXPECT_EQ(view.head_stride(), head_stride);
  EXPECT_EQ(view.modifier_stride(), modifier_stride);
  for (int h = 0; h <= n; ++h) {
    for (int m = 0; m <= n; ++m) {
      EXPECT_EQ(view(h, m), static_cast<double>(origin + h * head_stride + m * modifier_stride));
    }
  }
}

template <typename Real>
class Views : public testing::Test {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Views, RealTypes);

TYPED_TEST(Views, AreRowMajorByDefault) {
  const auto data = places<TypeParam>(16);
  expect_strides(ScoreView(data.data(), 3), 3, 0, 4, 1);
  expect_strides(ScoreView(data.data(), 0), 0, 0, 1, 1);
}

TYPED_TEST(Views, TakeAnyStrides) {
  const auto data = places<TypeParam>(100);
  expect_strides(ScoreView(data.data(), 3, 1, 4), 3, 0, 1, 4);            // transposed
  expect_strides(ScoreView(data.data() + 5, 3, 20, 2), 3, 5, 20, 2);      // every other column
  expect_strides(ScoreView(data.data() + 15, 3, -4, -1), 3, 15, -4, -1);  // from the end
  expect_strides(ScoreView(data.data() + 12, 3, -4, 1), 3, 12, -4, 1);    // upside down
  expect_strides(ScoreView(data.data() + 7, 3, 0, 1), 3, 7, 0, 1);        // one row for all heads
  expect_strides(ScoreView(data.data() + 7, 3, 0, 0), 3, 7, 0, 0);        // one score for all
}

TYPED_TEST(Views, RefuseNegativeLengthsAndNull) {
  const auto data = places<TypeParam>(16);
  const TypeParam* null = nullptr;
  for (const int n : {-1, INT_MIN}) {
    expect_misuse("ScoreView", [&] { ScoreView view(data.data(), n); });
    expect_misuse("ScoreView", [&] { ScoreView view(data.data(), n, 4, 1); });
  }
  expect_misuse("ScoreView", [&] { ScoreView view(null, 3); });
  expect_misuse("ScoreView", [&] { ScoreView view(null, 3, 4, 1); });
  EXPECT_EQ(ScoreView(null, 0).n(), 0);  // A sentence without words has nothing to read.
  EXPECT_EQ(ScoreView(null, 0, 4, 1).n(), 0);
}

TEST(ScoreView, KnowsItsType) {
  const float narrow[] = {0.1F};
  const double wide[] = {0.1};
  const ScoreView f(narrow, 0);
  EXPECT_EQ(f.float_data(), narrow);
  EXPECT_EQ(f.double_data(), nullptr);
  EXPECT_EQ(f(0, 0), static_cast<double>(0.1F));  // As stored, not 0.1.
  const ScoreView d(wide, 0);
  EXPECT_EQ(d.double_data(), wide);
  EXPECT_EQ(d.float_data(), nullptr);
  EXPECT_EQ(d(0, 0), 0.1);
}

TEST(ScoreView, GivesBackInfinitiesAndNan) {
  const float narrow[] = {-HUGE_VALF, HUGE_VALF, NAN, 0.0F};
  const ScoreView view(narrow, 1);
  EXPECT_EQ(view(0, 0), -HUGE_VAL);
  EXPECT_EQ(view(0, 1), HUGE_VAL);
  EXPECT_TRUE(std::isnan(view(1, 0)));
}

using Lengths = std::vector<std::int32_t>;

template <typename Real>
std::vector<ScoreView> padded_views(const std::vector<Real>& data, std::size_t batch, int max_n,
                                    const Lengths& lengths) {
  return padded(std::span<const Real>(data), batch, max_n, lengths);
}

template <typename Real>
std::vector<ScoreView> concatenated_views(const std::vector<Real>& data, const Lengths& lengths) {
  return concatenated(std::span<const Real>(data), lengths);
}

template <typename Real>
class Batches : public testing::Test {};
TYPED_TEST_SUITE(Batches, RealTypes);

TYPED_TEST(Batches, PaddedTakeTheTopLeftCorners) {
  const auto data = places<TypeParam>(4 * 16);
  const std::vector<ScoreView> scores = padded_views(data, 4, 3, {3, 0, 1, 2});
  ASSERT_EQ(scores.size(), 4U);
  expect_strides(scores[0], 3, 0, 4, 1);
  expect_strides(scores[1], 0, 16, 4, 1);
  expect_strides(scores[2], 1, 32, 4, 1);
  expect_strides(scores[3], 2, 48, 4, 1);
}

TYPED_TEST(Batches, PaddedWithoutLengthsAreAllFull) {
  const auto data = places<TypeParam>(2 * 9);
  const std::vector<ScoreView> scores = padded_views(data, 2, 2, {});
  ASSERT_EQ(scores.size(), 2U);
  expect_strides(scores[0], 2, 0, 3, 1);
  expect_strides(scores[1], 2, 9, 3, 1);
}

TYPED_TEST(Batches, PaddedMayBeEmpty) {
  EXPECT_EQ(padded_views(std::vector<TypeParam>(), 0, 5, {}).size(), 0U);
  const auto data = places<TypeParam>(2);
  const std::vector<ScoreView> scores = padded_views(data, 2, 0, {});
  ASSERT_EQ(scores.size(), 2U);
  expect_strides(scores[1], 0, 1, 1, 1);
}

TYPED_TEST(Batches, PaddedRefuseWhatContradictsTheShape) {
  const auto data = places<TypeParam>(2 * 9);
  const auto refuse = [&](std::size_t batch, int max_n, const Lengths& lengths) {
    expect_misuse("padded", [&] { padded_views(data, batch, max_n, lengths); });
  };
  refuse(2, -1, {});
  refuse(2, INT_MIN, {});
  refuse(1, 2, {});                 // too much data
  refuse(3, 2, {});                 // too little
  refuse(2, 1, {});                 // no whole matrix
  refuse(0, 2, {});                 // data for none
  refuse(SIZE_MAX / 9 + 3, 2, {});  // a product that would wrap round to 18
  refuse(2, 2, {2});                // a length is missing
  refuse(2, 2, {2, 2, 2});          // one too many
  refuse(2, 2, {2, -1});            // negative
  refuse(2, 2, {3, 2});             // longer than the padding
  refuse(2, 2, {2, INT32_MAX});
  refuse(2, 2, {2, INT32_MIN});
}

TYPED_TEST(Batches, ConcatenatedFollowEachOther) {
  const auto data = places<TypeParam>(4 + 1 + 16 + 9);
  const std::vector<ScoreView> scores = concatenated_views(data, {1, 0, 3, 2});
  ASSERT_EQ(scores.size(), 4U);
  expect_strides(scores[0], 1, 0, 2, 1);
  expect_strides(scores[1], 0, 4, 1, 1);
  expect_strides(scores[2], 3, 5, 4, 1);
  expect_strides(scores[3], 2, 21, 3, 1);
}

TYPED_TEST(Batches, ConcatenatedMayBeEmpty) {
  EXPECT_EQ(concatenated_views(std::vector<TypeParam>(), {}).size(), 0U);
}

TYPED_TEST(Batches, ConcatenatedRefuseSizesThatDoNotAddUp) {
  const auto data = places<TypeParam>(4 + 9);
  const auto refuse = [&](const Lengths& lengths) {
    expect_misuse("concatenated", [&] { concatenated_views(data, lengths); });
  };
  refuse({});
  refuse({1});
  refuse({1, 3});
  refuse({1, 2, 0});
  refuse({3, 2});
  refuse({-1, 1, 2});
  refuse({INT32_MIN});
  refuse({INT32_MAX});
  refuse({1, INT32_MAX});
}

// Misuse names the sentence, so that one length in a thousand can be found.
TEST(BatchViews, MisuseNamesTheSentence) {
  const auto data = places<double>(2 * 9);
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([&] {
              padded_views(data, 2, 2, {2, 7});
            }).find("lengths[1] = 7"),
            std::string::npos);
  EXPECT_NE(message([&] {
              concatenated_views(data, {2, -3});
            }).find("lengths[1]"),
            std::string::npos);
  EXPECT_NE(message([&] {
              concatenated_views(data, {2, 3});
            }).find("sentence 1"),
            std::string::npos);
}

}  // namespace
}  // namespace taproot
