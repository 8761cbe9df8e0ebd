// SPDX-License-Identifier: Apache-2.0
#include "batch/once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace taproot::detail {
namespace {

TEST(Once, IsFoundByOneThread) {
  Once once;
  int value = 0;
  std::atomic<int> finders = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      Once::Finder finder(once, true);
      if (finder.mine()) {
        ++finders;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        value = 42;
        finder.found();
      }
      EXPECT_EQ(value, 42);  // Everybody else waited.
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(finders, 1);
  EXPECT_TRUE(once.done());
}

TEST(Once, IsSoughtAgainAfterAFailure) {
  Once once;
  try {
    const Once::Finder finder(once, true);
    EXPECT_TRUE(finder.mine());
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(once.done());
  Once::Finder again(once, true);
  EXPECT_TRUE(again.mine());
  again.found();
  EXPECT_FALSE(Once::Finder(once, true).mine());
}

TEST(Once, IsLeftAloneByWhoeverDoesNotWantIt) {
  Once once;
  Once::Finder finder(once, false);
  EXPECT_FALSE(finder.mine());
  finder.found();
  EXPECT_FALSE(once.done());
}

// Waiting for oneself would take for ever.
TEST(Once, CannotBeSoughtWhileItIsSoughtByTheSameThread) {
  Once once;
  {
    const Once::Finder finder(once, true);
    EXPECT_THROW(Once::Finder(once, true), std::runtime_error);
    EXPECT_FALSE(Once::Finder(once, false).mine());
  }
  EXPECT_TRUE(Once::Finder(once, true).mine());
}

}  // namespace
}  // namespace taproot::detail
