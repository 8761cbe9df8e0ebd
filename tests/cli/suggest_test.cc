// SPDX-License-Identifier: Apache-2.0
#include "suggest.h"

#include <gtest/gtest.h>

namespace taproot::cli {
namespace {

TEST(Suggest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("sample", "sample"), 0U);
  EXPECT_EQ(edit_distance("sampel", "sample"), 1U);  // Two neighbors are exchanged.
  EXPECT_EQ(edit_distance("smaple", "sample"), 1U);
  EXPECT_EQ(edit_distance("samples", "sample"), 1U);
  EXPECT_EQ(edit_distance("simple", "sample"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Suggest, TheClosestName) {
  const std::vector<std::string> names = {"logz", "sample", "swor", "show", "marginals", "mbr"};
  EXPECT_EQ(closest("sampel", names), "sample");
  EXPECT_EQ(closest("log", names), "logz");
  EXPECT_EQ(closest("marg", names), "marginals");  // The only one that begins so.
  EXPECT_EQ(closest("s", names), "");
  EXPECT_EQ(closest("fly", names), "");
  EXPECT_EQ(closest("x", names), "");
  EXPECT_EQ(closest("", names), "");
  EXPECT_EQ(closest(std::string(1000, 'm'), names), "");
}

}  // namespace
}  // namespace taproot::cli
