// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace taproot {

/// Runs `call` and expects std::invalid_argument with the prefix "[function] ".
template <typename Call>
void expect_misuse(const std::string& function, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "nothing thrown";
  } catch (const std::invalid_argument& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.rfind("[" + function + "] ", 0), 0U) << what;
    EXPECT_GT(what.size(), function.size() + 3) << "no explanation";
  }
}

}  // namespace taproot
