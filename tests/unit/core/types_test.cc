// SPDX-License-Identifier: Apache-2.0
#include "taproot/types.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

namespace taproot {
namespace {

constexpr Status kAll[] = {Status::kOk,    Status::kNoTree,    Status::kBadScore,
                           Status::kEmpty, Status::kStepLimit, Status::kNumericalLoss};

TEST(RootRule, HasNames) {
  EXPECT_EQ(to_string(RootRule::kSingle), "single");
  EXPECT_EQ(to_string(RootRule::kMulti), "multi");
}

// The words of the command line and of Python.
TEST(Status, HasNames) {
  const char* names[] = {"ok", "no_tree", "bad_score", "empty", "step_limit", "numerical_loss"};
  for (std::size_t i = 0; i < std::size(kAll); ++i) EXPECT_EQ(to_string(kAll[i]), names[i]);
  EXPECT_EQ(to_string(static_cast<Status>(99)), "unknown");
}

TEST(Outcome, IsDescribed) {
  std::set<std::string> texts;
  for (const Status status : kAll) {
    const std::string text = describe({status, 3, 4}, 17);
    EXPECT_EQ(text.rfind("sentence 17: ", 0), 0U) << text;
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), std::size(kAll));
  const std::string bad = describe({Status::kBadScore, 3, 4}, 0);
  EXPECT_NE(bad.find("head 3 -> modifier 4"), std::string::npos) << bad;
  EXPECT_NE(bad.find("1e+15"), std::string::npos) << bad;
  EXPECT_TRUE(Outcome{}.ok());
  EXPECT_FALSE(Outcome{Status::kEmpty}.ok());
}

TEST(SentenceError, CarriesItsOutcome) {
  const Outcome outcome{Status::kBadScore, 3, 4};
  try {
    throw SentenceError(outcome, 17);
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), describe(outcome, 17));
    const auto* own = dynamic_cast<const SentenceError*>(&error);
    ASSERT_NE(own, nullptr);
    const SentenceError copy = *own;
    EXPECT_EQ(copy.outcome(), outcome);
    EXPECT_STREQ(copy.what(), error.what());
  }
}

}  // namespace
}  // namespace taproot
