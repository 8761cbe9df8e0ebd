// SPDX-License-Identifier: Apache-2.0
//
// Both implementations, our own threads and oneTBB's, must pass.
#include "core/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "testing/misuse.h"

namespace taproot::detail {
namespace {

using Clock = std::chrono::steady_clock;
using std::this_thread::get_id;
constexpr auto kPatience = std::chrono::seconds(20);

const std::function<void()> kNobody;

// A loop that nobody interrupts, body(index).
void for_each_index(Parallel& parallel, std::size_t count,
                    const std::function<void(std::size_t)>& body) {
  Interrupt interrupt(kNobody);
  parallel.for_each(count, interrupt, [&](std::size_t begin, std::size_t end) {
    EXPECT_LT(begin, end);
    EXPECT_LE(end, count);
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

void expect_every_index_once(Parallel& parallel, std::size_t count) {
  const auto calls = std::make_unique<std::atomic<int>[]>(count + 1);
  for_each_index(parallel, count, [&](std::size_t i) { ++calls[std::min(i, count)]; });
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(calls[i], 1) << i;
  EXPECT_EQ(calls[count], 0);
}

// How many threads take part in a loop in which calls wait for each other until `wanted` are there
// at once; also with fewer cores than that.
int threads_at_once(Parallel& parallel, int wanted, std::chrono::milliseconds patience) {
  std::atomic<int> here = 0;
  std::atomic<int> most = 0;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto deadline = Clock::now() + patience;
  for_each_index(parallel, 1000, [&](std::size_t) {
    {
      const std::lock_guard lock(mutex);
      threads.insert(get_id());
    }
    const int now = ++here;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    while (most < wanted && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    --here;
  });
  EXPECT_TRUE(threads.count(get_id()) == 1) << "the caller works, too";
  EXPECT_GE(threads.size(), static_cast<std::size_t>(most));
  return most;
}

TEST(Parallel, HasTheThreadsAskedFor) {
  for (const int threads : {1, 2, 7}) EXPECT_EQ(Parallel(threads).threads(), threads);
  EXPECT_GE(Parallel(0).threads(), 1);
  for (const int threads : {-1, -100}) {
    expect_misuse("Pool", [=] { Parallel parallel(threads); });
    Parallel parallel(2);
    expect_misuse("Pool", [&] { parallel.set_threads(threads); });
    EXPECT_EQ(parallel.threads(), 2);
  }
}

TEST(Parallel, CallsEveryIndexOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    SCOPED_TRACE(threads);
    Parallel parallel(threads);
    for (const std::size_t count : {0U, 1U, 2U, 6U, 7U, 8U, 112U, 113U, 1000U}) {
      for (int again = 0; again < 20; ++again) expect_every_index_once(parallel, count);
    }
  }
}

TEST(Parallel, OneThreadIsTheCallersInOneOrderedPiece) {
  Parallel parallel(1);
  Interrupt interrupt(kNobody);
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  parallel.for_each(5000, interrupt,
                    [&](std::size_t begin, std::size_t end) { pieces.emplace_back(begin, end); });
  EXPECT_EQ(pieces, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 5000}}));
  const std::thread::id caller = get_id();
  for_each_index(parallel, 5, [&](std::size_t) { EXPECT_EQ(get_id(), caller); });
}

// A loop of one index has nothing to share out.
TEST(Parallel, OneIndexIsTheCallers) {
  Parallel parallel(7);
  const std::thread::id caller = get_id();
  for_each_index(parallel, 1, [&](std::size_t) { EXPECT_EQ(get_id(), caller); });
}

TEST(Parallel, ReallyUsesThatManyThreads) {
  for (const int threads : {2, 7}) {
    Parallel parallel(threads);
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(threads_at_once(parallel, threads, kPatience), threads);
    }
  }
}

TEST(Parallel, UsesAsManyAsWereSetLast) {
  Parallel parallel(2);
  EXPECT_EQ(threads_at_once(parallel, 2, kPatience), 2);
  parallel.set_threads(5);
  EXPECT_EQ(threads_at_once(parallel, 5, kPatience), 5);
  parallel.set_threads(3);  // Two threads are there that may not join.
  EXPECT_EQ(threads_at_once(parallel, 3, kPatience), 3);
  EXPECT_EQ(threads_at_once(parallel, 4, std::chrono::milliseconds(200)), 3);
  parallel.set_threads(1);
  EXPECT_EQ(threads_at_once(parallel, 2, std::chrono::milliseconds(200)), 1);
  parallel.set_threads(0);
  expect_every_index_once(parallel, 1000);
}

TEST(Parallel, ALoopWithinALoopIsItsCallersAlone) {
  Parallel parallel(3);
  std::atomic<int> calls = 0;
  for_each_index(parallel, 30, [&](std::size_t) {
    const std::thread::id caller = get_id();
    for_each_index(parallel, 30, [&](std::size_t) {
      EXPECT_EQ(get_id(), caller);
      ++calls;
    });
  });
  EXPECT_EQ(calls, 900);
}

TEST(Parallel, ASecondCallerWorksAlone) {
  Parallel parallel(2);
  std::atomic<bool> begun = false;
  std::atomic<bool> done = false;
  std::thread first([&] {
    for_each_index(parallel, 2, [&](std::size_t) {
      begun = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!begun) std::this_thread::yield();
  std::vector<std::size_t> order;
  const std::thread::id caller = get_id();
  for_each_index(parallel, 100, [&](std::size_t i) {
    EXPECT_EQ(get_id(), caller);
    order.push_back(i);
  });
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 100U);
  done = true;
  first.join();
  EXPECT_EQ(threads_at_once(parallel, 2, kPatience), 2);  // And then shares out again.
}

TEST(Parallel, ManyCallersGetAllOfTheirIndices) {
  Parallel parallel(3);
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i) {
    callers.emplace_back([&] {
      for (int again = 0; again < 200; ++again) expect_every_index_once(parallel, 40);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(Parallel, RethrowsWhatABodyThrowsAndWorksOn) {
  for (const int threads : {1, 2, 7}) {
    SCOPED_TRACE(threads);
    Parallel parallel(threads);
    for (const std::size_t bad : {0U, 41U, 99U}) {
      try {
        for_each_index(parallel, 100, [=](std::size_t i) {
          if (i == bad) throw std::out_of_range("index " + std::to_string(i));
        });
        ADD_FAILURE() << "nothing thrown";
      } catch (const std::out_of_range& error) {
        EXPECT_EQ(error.what(), "index " + std::to_string(bad));
      }
      expect_every_index_once(parallel, 100);
    }
    // All of them throw: one gets through.
    EXPECT_THROW(for_each_index(parallel, 100, [](std::size_t) { throw std::bad_alloc(); }),
                 std::bad_alloc);
    expect_every_index_once(parallel, 100);
  }
}

// What one body throws ends the others at their next check.
TEST(Parallel, AnErrorEndsTheLoopOnAllThreads) {
  Parallel parallel(2);
  Interrupt interrupt(kNobody);
  std::atomic<bool> stuck = false;
  EXPECT_THROW(parallel.for_each(2, interrupt,
                                 [&](std::size_t begin, std::size_t) {
                                   if (begin == 1) {
                                     while (!stuck) std::this_thread::yield();
                                     throw std::out_of_range("");
                                   }
                                   stuck = true;
                                   for (;;) interrupt.check();
                                 }),
               std::out_of_range);
  expect_every_index_once(parallel, 100);
}

// The caller's own work is interrupted, and with it that of all threads.
TEST(Parallel, AnInterruptEndsTheLoopOnAllThreads) {
  struct Canceled {};
  for (const int threads : {1, 2, 7}) {
    Parallel parallel(threads);
    const std::thread::id caller = get_id();
    const std::function<void()> ask = [&] {
      EXPECT_EQ(get_id(), caller);
      throw Canceled();
    };
    Interrupt interrupt(ask);
    EXPECT_THROW(parallel.for_each(50, interrupt,
                                   [&](std::size_t, std::size_t) {
                                     for (;;) interrupt.check();
                                   }),
                 Canceled);
    expect_every_index_once(parallel, 100);
  }
}

// Another thread is stuck while the caller has nothing left to do.
TEST(Parallel, AnInterruptIsAskedWhileTheCallerWaits) {
  struct Canceled {};
  Parallel parallel(2);
  const std::thread::id caller = get_id();
  int asked = 0;
  const std::function<void()> ask = [&] {
    EXPECT_EQ(get_id(), caller);
    if (++asked == 3) throw Canceled();
  };
  Interrupt interrupt(ask);
  std::atomic<bool> stuck = false;
  EXPECT_THROW(parallel.for_each(2, interrupt,
                                 [&](std::size_t, std::size_t) {
                                   if (get_id() == caller) {
                                     while (!stuck) std::this_thread::yield();
                                     return;
                                   }
                                   stuck = true;
                                   for (;;) interrupt.check();
                                 }),
               Canceled);
  EXPECT_EQ(asked, 3);
  expect_every_index_once(parallel, 100);
}

#if !defined(__SANITIZE_THREAD__)  // Which does not follow threads into a child.

TEST(Parallel, WorksInTheChildOfAFork) {
  for (const bool used : {true, false}) {
    Parallel parallel(3);
    if (used) expect_every_index_once(parallel, 1000);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);
#if !defined(TAPROOT_TEST_TBB)  // A child of fork() has none of oneTBB's threads: it works alone.
      EXPECT_EQ(threads_at_once(parallel, 3, kPatience), 3);
#endif
      expect_every_index_once(parallel, 1000);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(threads_at_once(parallel, 3, kPatience), 3);
  }
}

#endif

}  // namespace
}  // namespace taproot::detail
