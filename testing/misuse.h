// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "taproot/types.h"

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

/// Runs `call` and expects the SentenceError of a sentence with this status.
template <typename Call>
void expect_sentence_error(Status status, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "nothing thrown";
  } catch (const SentenceError& error) {
    EXPECT_EQ(error.outcome().status, status) << error.what();
    EXPECT_EQ(error.what(), describe(error.outcome(), 0));
  }
}

}  // namespace taproot
