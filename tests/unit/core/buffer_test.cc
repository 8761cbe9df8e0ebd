// SPDX-License-Identifier: Apache-2.0
#include "core/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace taproot::detail {
namespace {

TEST(Buffer, GrowsAndStaysInPlaceOtherwise) {
  Buffer<double> buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.resize(0), nullptr);
  // Across the size from which on memory comes in large pages.
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{100}, kHugePage / 8 - 1, kHugePage / 8, kHugePage / 4}) {
    double* data = buffer.resize(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % kAlignment, 0U);
    data[0] = 1;
    data[size - 1] = 2;
    EXPECT_EQ(buffer.resize(size / 2), data);
    EXPECT_EQ(buffer.resize(size), data);
    EXPECT_EQ(buffer[size - 1], 2);
  }
  double* data = buffer.data();
  Buffer<double> moved = std::move(buffer);
  EXPECT_EQ(moved.data(), data);
}

TEST(LeadingDimension, IsWholeCacheLinesButNoPage) {
  for (int n = 0; n < 5000; ++n) {
    const std::size_t ld = leading_dimension(n);
    EXPECT_GT(ld, static_cast<std::size_t>(n));
    EXPECT_LE(ld, static_cast<std::size_t>(n) + 16);
    EXPECT_EQ(ld % 8, 0U);
    EXPECT_NE(ld % 64, 0U);
  }
}

}  // namespace
}  // namespace taproot::detail
