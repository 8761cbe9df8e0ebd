// SPDX-License-Identifier: Apache-2.0
#include "core/utf8.h"

#include <gtest/gtest.h>

namespace taproot::detail {
namespace {

TEST(Utf8, EveryCodePointSurvives) {
  for (char32_t code = 0; code <= 0x110000; ++code) {
    if (!is_code_point(code)) continue;
    std::string text;
    append_code(text, code);
    std::size_t at = 0;
    char32_t decoded = 0;
    ASSERT_TRUE(decode_utf8(text, at, decoded)) << static_cast<std::uint32_t>(code);
    ASSERT_EQ(decoded, code);
    ASSERT_EQ(at, text.size());
  }
  EXPECT_FALSE(is_code_point(0xD800));
  EXPECT_FALSE(is_code_point(0xDFFF));
  EXPECT_FALSE(is_code_point(0x110000));
}

TEST(Utf8, StrayBytesAreReplacedOneByOne) {
  for (const std::string bad : {"\xff", "\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xc3",
                                "\xe2\x82", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\xc3x"}) {
    std::size_t at = 0;
    char32_t code = 0;
    EXPECT_FALSE(decode_utf8(bad, at, code));
    EXPECT_EQ(at, 1U);
    EXPECT_EQ(code, kReplacement);
    at = 0;
    EXPECT_EQ(next_code(bad, at), kReplacement);
  }
}

}  // namespace
}  // namespace taproot::detail
