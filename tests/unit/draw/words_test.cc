// SPDX-License-Identifier: Apache-2.0
#include "draw/words.h"

#include <gtest/gtest.h>

#include "taproot/draw.h"

namespace taproot {
namespace {

using namespace detail;

TEST(ShownText, LeavesTextAlone) {
  for (const char* text : {"", "saw", "m\u00fc\u00df", "\u6f22\u5b57", "\u05e9\u05dc\u05d5\u05dd",
                           "e\u0301", "\U0001F469\u200D\U0001F469\u200D\U0001F467", "\u2764\uFE0F",
                           "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "<script>", "a&b"}) {
    EXPECT_EQ(shown_text(text), text);
  }
}

TEST(ShownText, NamesWhatWouldNotBeSeenOrObeyed) {
  EXPECT_EQ(shown_text("\x1b[31m"), "<U+001B>[31m");
  EXPECT_EQ(shown_text(std::string_view("a\0b\r\n\t", 6)), "a<U+0000>b<U+000D><U+000A><U+0009>");
  EXPECT_EQ(shown_text("\x7f\u009b"), "<U+007F><U+009B>");
  EXPECT_EQ(shown_text("\u202eabc\u2066\u200f"), "<U+202E>abc<U+2066><U+200F>");
  EXPECT_EQ(shown_text("\u2028\ufeff\uffff"), "<U+2028><U+FEFF><U+FFFF>");
  EXPECT_EQ(shown_text("\U000E0041\U0010FFFF"), "<U+E0041><U+10FFFF>");
}

TEST(ShownText, MarksBytesThatAreNoText) {
  EXPECT_EQ(shown_text("\xff"), "\ufffd");
  EXPECT_EQ(shown_text("a\xc3"), "a\ufffd");
  EXPECT_EQ(shown_text("\xc0\xaf"), "\ufffd\ufffd");
  EXPECT_EQ(shown_text("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(shown_text("\xf4\x90\x80\x80z"), "\ufffd\ufffd\ufffd\ufffdz");
  EXPECT_EQ(shown_text("\xe2\x82z"), "\ufffd\ufffdz");
}

// Whatever bytes come in, what comes out holds nothing that XML forbids or a terminal obeys, and
// showing it again changes nothing.
TEST(ShownText, IsSafeForAnyBytes) {
  std::uint32_t state = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
      state = state * 1664525U + 1013904223U;
      // Half of them from the ranges where sequences begin and go on.
      const std::uint32_t pick = state >> 16U;
      bytes += static_cast<char>((pick & 1U) != 0 ? pick >> 8U : 0x80U | (pick >> 8U & 0x7FU));
    }
    const std::string shown = shown_text(bytes);
    EXPECT_EQ(shown_text(shown), shown);
    for (std::size_t at = 0; at < shown.size();) {
      const char32_t code = next_code(shown, at);
      ASSERT_TRUE(code >= 0x20 && (code < 0x7F || code >= 0xA0));
      ASSERT_TRUE(code < 0x202A || code > 0x202E);
      ASSERT_TRUE(code != 0xFFFE && code != 0xFFFF);
    }
  }
}

TEST(CellWidth, IsThatOfATerminal) {
  const std::pair<const char*, std::size_t> cases[] = {
      {"", 0},
      {"saw", 3},
      {"m\u00fc\u00df", 3},
      {"\u6f22\u5b57", 4},
      {"\uff21", 2},                                      // Full-width A.
      {"\uff76", 1},                                      // Half-width katakana.
      {"\ud55c", 2},                                      // A Hangul syllable,
      {"\u1112\u1161\u11ab", 2},                          // and the same in parts.
      {"e\u0301\u0302", 1},                               // Combining marks.
      {"\u05e9\u05c1", 1},                                // A Hebrew point.
      {"\u0e01\u0e33", 2},                                // Thai: SARA AM takes a cell.
      {"\U0001F600", 2},                                  // An emoji,
      {"\U0001F44D\U0001F3FD", 2},                        // with a color of skin,
      {"\U0001F469\u200D\U0001F469\u200D\U0001F467", 2},  // a family,
      {"\U0001F1EA\U0001F1FA", 2},                        // a flag,
      {"\u2764", 1},
      {"\u2764\uFE0F", 2},              // and a symbol made one.
      {"\u0645\u06cc\u200c\u062e", 3},  // A non-joiner inside a word.
      {"\ufffd", 1},
  };
  for (const auto& [text, cells] : cases) EXPECT_EQ(cell_width(text), cells) << text;
}

TEST(SplitCells, LosesNothingAndKeepsMarksWithTheirLetters) {
  for (const std::string text :
       {"", "abcdefghij", "\u6f22\u5b57\u6f22\u5b57\u6f22", "e\u0301e\u0301e\u0301e\u0301",
        "\U0001F469\u200D\U0001F469\u200D\U0001F467ab"}) {
    for (std::size_t cells = 1; cells < 12; ++cells) {
      std::string together;
      for (const std::string& piece : split_cells(text, cells)) {
        EXPECT_LE(cell_width(piece), std::max<std::size_t>(cells, 2));
        if (!piece.empty()) {
          EXPECT_GT(cell_width(piece), 0U);
        }
        together += piece;
      }
      EXPECT_EQ(together, text);
    }
  }
}

TEST(RightToLeft, IsSeen) {
  EXPECT_TRUE(is_right_to_left("\u05e9\u05dc\u05d5\u05dd"));
  EXPECT_TRUE(is_right_to_left("a\u0645"));
  EXPECT_FALSE(is_right_to_left("saw \u6f22"));
}

TEST(EmWidth, GrowsWithTheText) {
  EXPECT_LT(em_width("i"), em_width("m"));
  EXPECT_NEAR(em_width("\u6f22\u5b57"), 2, 0.01);
  EXPECT_EQ(em_width("e\u0301"), em_width("e"));
  EXPECT_EQ(em_width(""), 0);
}

}  // namespace
}  // namespace taproot
