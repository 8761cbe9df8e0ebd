// SPDX-License-Identifier: Apache-2.0
#include "core/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace taproot::detail {
namespace {

struct Canceled {};

// A few times per second, however often work looks at the clock.
TEST(Interrupt, AsksNowAndThen) {
  int asked = 0;
  const std::function<void()> ask = [&] { ++asked; };
  Interrupt interrupt(ask);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < end) interrupt.check();
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 6);
}

TEST(Interrupt, WithNobodyToAskNeverEnds) {
  const std::function<void()> nobody;
  Interrupt interrupt(nobody);
  for (int i = 0; i < 100; ++i) interrupt.check();
  check(&interrupt);
  check(nullptr);
}

// What is thrown on the caller's thread stops the others, who never ask.
TEST(Interrupt, StopsAllThreads) {
  const std::thread::id caller = std::this_thread::get_id();
  const std::function<void()> ask = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    throw Canceled();
  };
  Interrupt interrupt(ask);
  std::thread other([&] { EXPECT_THROW(for (;;) interrupt.check(), Stopped); });
  EXPECT_THROW(for (;;) interrupt.check(), Canceled);
  other.join();
  EXPECT_THROW(interrupt.check(), Stopped);
}

TEST(Interrupt, MayBeStoppedByAnyThread) {
  const std::function<void()> nobody;
  Interrupt interrupt(nobody);
  std::thread([&] { interrupt.stop(); }).join();
  EXPECT_THROW(interrupt.check(), Stopped);
  EXPECT_THROW(check(&interrupt), Stopped);
}

TEST(TreesBetweenChecks, AreFewOfLongSentences) {
  EXPECT_EQ(trees_between_checks(0), 4096U);
  EXPECT_EQ(trees_between_checks(1), 4096U);
  EXPECT_EQ(trees_between_checks(100), 40U);
  EXPECT_EQ(trees_between_checks(100000), 1U);
}

}  // namespace
}  // namespace taproot::detail
