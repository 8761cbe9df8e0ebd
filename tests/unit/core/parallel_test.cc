// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace taproot::detail {
namespace {

TEST(Parallel, HasTheThreadsAskedFor) {
  for (const int threads : {1, 2, 7}) EXPECT_EQ(Parallel(threads).threads(), threads);
  EXPECT_GE(Parallel(0).threads(), 1);
}

TEST(Parallel, CallsEveryItemOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    SCOPED_TRACE(threads);
    Parallel parallel(threads);
    for (const std::size_t count : {0U, 1U, 2U, 6U, 7U, 8U, 1000U}) {
      const auto calls = std::make_unique<std::atomic<int>[]>(count + 1);
      std::atomic<bool> in_range = true;
      parallel.for_each(count, [&](std::size_t item, std::size_t slot) {
        if (item >= count || slot >= static_cast<std::size_t>(parallel.threads())) in_range = false;
        ++calls[std::min(item, count)];
      });
      EXPECT_TRUE(in_range);
      for (std::size_t item = 0; item < count; ++item) EXPECT_EQ(calls[item], 1) << item;
    }
  }
}

TEST(Parallel, OneThreadIsTheCallersInOrder) {
  Parallel parallel(1);
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::size_t> items;
  parallel.for_each(5, [&](std::size_t item, std::size_t slot) {
    EXPECT_EQ(slot, 0U);
    EXPECT_EQ(std::this_thread::get_id(), caller);
    items.push_back(item);
  });
  EXPECT_EQ(items, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

// The slot is what makes a workspace private: no two calls may hold one at the same time.
TEST(Parallel, ConcurrentCallsHaveDifferentSlots) {
  for (const int threads : {2, 7}) {
    SCOPED_TRACE(threads);
    Parallel parallel(threads);
    const auto busy = std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(threads));
    std::atomic<bool> shared = false;
    for (int round = 0; round < 20; ++round) {
      parallel.for_each(50, [&](std::size_t, std::size_t slot) {
        if (busy[slot].fetch_add(1) != 0) shared = true;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        busy[slot].fetch_sub(1);
      });
    }
    EXPECT_FALSE(shared);
  }
}

// Also with fewer cores: the calls wait for each other until all threads are there.
TEST(Parallel, ReallyUsesThatManyThreads) {
  constexpr int kThreads = 7;
  Parallel parallel(kThreads);
  std::atomic<int> here = 0;
  std::atomic<int> most = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  parallel.for_each(1000, [&](std::size_t, std::size_t) {
    const int now = ++here;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    while (most < kThreads && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    --here;
  });
  EXPECT_EQ(most, kThreads);
}

TEST(Parallel, RethrowsWhatABodyThrowsAndWorksOn) {
  for (const int threads : {1, 2, 7}) {
    SCOPED_TRACE(threads);
    Parallel parallel(threads);
    try {
      parallel.for_each(100, [](std::size_t item, std::size_t) {
        if (item == 41) throw std::out_of_range("item 41");
      });
      ADD_FAILURE() << "nothing thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "item 41");
    }
    std::atomic<int> calls = 0;
    parallel.for_each(100, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 100);
  }
}

TEST(Parallel, RefusesANegativeNumberOfThreads) {
  for (const int threads : {-1, -100}) {
    try {
      Parallel parallel(threads);
      ADD_FAILURE() << "nothing thrown";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).rfind("[Pool] ", 0), 0U) << error.what();
    }
  }
}

}  // namespace
}  // namespace taproot::detail
