// SPDX-License-Identifier: Apache-2.0
#include "formats/format.h"

#include <gtest/gtest.h>

#include "error.h"

namespace taproot::cli {
namespace {

constexpr Format kTwo[] = {Format::kText, Format::kJsonl};

TEST(Formats, NamesAndEndings) {
  for (const Format format :
       {Format::kJsonl, Format::kNpz, Format::kConllu, Format::kText, Format::kTsv, Format::kSvg,
        Format::kPng, Format::kPdf, Format::kHtml}) {
    EXPECT_EQ(format_named(to_string(format)), format);
  }
  EXPECT_THROW(format_named("xml"), InputError);
  EXPECT_EQ(format_of_ending("a/b.c/x.txt"), Format::kText);
  EXPECT_EQ(format_of_ending("x.HTM"), Format::kHtml);
  for (const char* const none : {"", "x", "x.", ".npz", "a.npz/x", "x.npz.gz", "npz"}) {
    EXPECT_EQ(format_of_ending(none), std::nullopt) << none;
  }
  EXPECT_EQ(format_of("x.foo"), Format::kJsonl);
}

TEST(Formats, TheChosenOne) {
  EXPECT_EQ(chosen_format(kTwo, "", ""), Format::kText);
  EXPECT_EQ(chosen_format(kTwo, "", "x"), Format::kText);
  EXPECT_EQ(chosen_format(kTwo, "", "x.jsonl"), Format::kJsonl);
  EXPECT_EQ(chosen_format(kTwo, "jsonl", "x"), Format::kJsonl);
  EXPECT_EQ(chosen_format(kTwo, "jsonl", "x.foo"), Format::kJsonl);
  EXPECT_EQ(chosen_format(kTwo, "jsonl", "x.jsonl"), Format::kJsonl);
  EXPECT_THROW(chosen_format(kTwo, "npz", ""), InputError);
  EXPECT_THROW(chosen_format(kTwo, "", "x.npz"), InputError);
  EXPECT_THROW(chosen_format(kTwo, "", "x.foo"), InputError);
  EXPECT_THROW(chosen_format(kTwo, "jsonl", "x.txt"), InputError);
  EXPECT_THROW(chosen_format(kTwo, "jsonl", "x.png"), InputError);
}

}  // namespace
}  // namespace taproot::cli
