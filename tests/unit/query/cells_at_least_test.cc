// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/random.h"
#include "taproot/query.h"
#include "unit/core/targets.h"

namespace taproot {
namespace {

std::vector<std::uint32_t> by_definition(const std::vector<double>& values, double least) {
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= least) found.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

std::vector<std::uint32_t> cells(const std::vector<double>& values, double least) {
  std::vector<std::uint32_t> found(values.size());
  found.resize(cells_at_least(values, least, found));
  return found;
}

TEST(CellsAtLeast, AreThoseOfTheDefinition) {
  detail::Stream stream(detail::stream_key(5, 0), 0, detail::Purpose::kTree);
  for_each_target([&] {
    for (std::size_t size = 0; size <= 200; ++size) {
      std::vector<double> values(size);
      for (double& value : values) value = stream.uniform();
      for (const double least : {0.0, 0.01, 0.5, 0.99, 1.5}) {
        EXPECT_EQ(cells(values, least), by_definition(values, least)) << size << ' ' << least;
      }
      // The bound itself counts.
      if (size > 0) {
        EXPECT_EQ(cells(values, values[size / 2]), by_definition(values, values[size / 2]));
      }
    }
  });
}

TEST(CellsAtLeast, NanIsNotAtLeastAnything) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  for_each_target([&] {
    std::vector<double> values(70, kNan);
    values[3] = kTiny;
    values[66] = HUGE_VAL;
    EXPECT_EQ(cells(values, kTiny), (std::vector<std::uint32_t>{3, 66}));
    EXPECT_TRUE(cells(values, kNan).empty());
  });
}

TEST(CellsAtLeast, NeedsRoomForAllCells) {
  std::vector<double> values(3);
  std::vector<std::uint32_t> room(2);
  EXPECT_THROW(cells_at_least(values, 0, room), std::invalid_argument);
}

}  // namespace
}  // namespace taproot
