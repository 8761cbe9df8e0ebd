// SPDX-License-Identifier: Apache-2.0
#include "parse.h"

#include <gtest/gtest.h>

#include <limits>

#include "error.h"

namespace taproot::cli {
namespace {

TEST(Parse, Integers) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(parse_integer("--x", "18446744073709551615", 0, kMost), kMost);
  EXPECT_EQ(parse_integer("--x", "010", 0, kMost), 10U);
  EXPECT_EQ(parse_integer("--x", "3", 3, 3), 3U);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x1", "1e2", "18446744073709551616"}) {
    EXPECT_THROW(parse_integer("--x", bad, 0, kMost), InputError) << bad;
  }
  EXPECT_THROW(parse_integer("--x", "2", 3, 5), InputError);
  EXPECT_THROW(parse_integer("--x", "6", 3, 5), InputError);
}

TEST(Parse, Reals) {
  EXPECT_EQ(parse_real("--x", "0.25", 0, 1), 0.25);
  EXPECT_EQ(parse_real("--x", "1e-3", 0, 1), 1e-3);
  for (const char* bad : {"", "nan", "inf", "-0.1", "1.1", "0.5x", "0x1", " 0"}) {
    EXPECT_THROW(parse_real("--x", bad, 0, 1), InputError) << bad;
  }
}

TEST(Parse, EdgesWordsAndSlices) {
  EXPECT_EQ(parse_edge("--force", "0>2"), std::pair(0, 2));
  EXPECT_EQ(parse_edge("--force", "0:2"), std::pair(0, 2));
  EXPECT_EQ(parse_edge("--force", "12:3"), std::pair(12, 3));
  const std::pair<std::string, std::string> edges[] = {
      {"", "HEAD:MODIFIER"},
      {"3", "not '3'"},
      {"scores.npz", "not 'scores.npz' (a shell takes an unquoted 2>1 for a redirection)"},
      {"3:", "HEAD:MODIFIER"},
      {">3", "HEAD:MODIFIER"},
      {"cat>The", "expected HEAD:MODIFIER, two numbers such as 2:1 (0 is ROOT), not 'cat>The'"},
      {"3:3", "'3:3' makes word 3 its own head"},
      {"1>0", "gives ROOT (0) a head"},
      {"1>-2", "HEAD:MODIFIER"},
      {"1>2>3", "HEAD:MODIFIER"},
      {"1:2:3", "HEAD:MODIFIER"},
      {"1>9999999999", "HEAD:MODIFIER"}};
  for (const auto& [text, fragment] : edges) {
    try {
      parse_edge("--force", text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      const std::string said = error.what();
      EXPECT_TRUE(said.starts_with("--force: ")) << said;
      EXPECT_NE(said.find(fragment), std::string::npos) << said;
    }
  }
  EXPECT_EQ(parse_words("--roots", "1,3"), (std::vector<std::int32_t>{1, 3}));
  for (const char* bad : {"", "0", "1,", "1,,2", "x", "-1"}) {
    EXPECT_THROW(parse_words("--roots", bad), InputError) << bad;
  }
  const auto all = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(parse_slice("--sentences", "2:5"), std::pair(std::size_t{2}, std::size_t{5}));
  EXPECT_EQ(parse_slice("--sentences", ":5"), std::pair(std::size_t{0}, std::size_t{5}));
  EXPECT_EQ(parse_slice("--sentences", "2:"), std::pair(std::size_t{2}, all));
  EXPECT_EQ(parse_slice("--sentences", ":"), std::pair(std::size_t{0}, all));
  EXPECT_EQ(parse_slice("--sentences", "3"), std::pair(std::size_t{3}, std::size_t{4}));
  for (const char* bad :
       {"", "x", "-1", "18446744073709551615", "5:3", "5:5", "a:b", "1:2:3", "-1:2"}) {
    EXPECT_THROW(parse_slice("--sentences", bad), InputError) << bad;
  }
}

}  // namespace
}  // namespace taproot::cli
