// SPDX-License-Identifier: Apache-2.0
#include "io/line_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "formats/tree_files.h"

namespace taproot::cli {
namespace {

TEST_F(Trees, LinesHoldEveryKindOfNumber) {
  LineBuffer line;
  std::string expected;
  const auto add = [&](auto value) {
    line.number(value);
    line.byte(' ');
    expected += std::to_string(value) + " ";
  };
  for (std::int32_t value = -1001; value <= 10001; ++value) add(value);
  add(std::numeric_limits<std::int32_t>::min());
  add(std::numeric_limits<std::int32_t>::max());
  for (const std::size_t value : {0U, 7U, 42U, 999U, 1000U}) add(value);
  add(std::numeric_limits<std::size_t>::max());
  for (const double value : {0.5, -0.25, 1e100, -123.45678901234567, 5e-324, 1e16, 100.0}) {
    line.number(value);
    line.byte(' ');
    expected += fmt::format("{} ", value);
  }
  line.number(-0.0);
  OutputFile file(path("x"));
  line.flush(file);
  EXPECT_EQ(line.size(), 0U);
  file.commit();
  EXPECT_EQ(get("x"), expected + "-0.0");
}

}  // namespace
}  // namespace taproot::cli
