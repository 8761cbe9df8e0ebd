// SPDX-License-Identifier: Apache-2.0
#include "core/workers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace taproot::detail {
namespace {

using Clock = std::chrono::steady_clock;

// Waking a thread takes tens of microseconds, as long as many a batch. So a thread that has nothing
// to do spins until kSpin, then yields the core until kYield (both from the start), and then
// sleeps; a caller waits likewise for the end of a loop. It yields because PyTorch often computes
// for longer than kSpin between two calls, and its own threads may want the core.
constexpr std::chrono::microseconds kSpin{60};
constexpr std::chrono::microseconds kYield{300};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <typename Condition>
bool spin_until(Condition&& condition) {
  const auto begin = Clock::now();
  do {
    for (int i = 0; i < 64; ++i) {
      if (condition()) return true;
      relax();
    }
  } while (Clock::now() < begin + kSpin);
  do {
    if (condition()) return true;
    std::this_thread::yield();
  } while (Clock::now() < begin + kYield);
  return condition();
}

}  // namespace

struct Workers::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable left;
  std::atomic<std::uint64_t> loops = 0;  // How many were begun; its change is the signal to work.
  std::atomic<int> inside = 0;           // Threads at work on the loop.
  Loop* loop = nullptr;
  bool quit = false;
  std::vector<std::thread> workers;

  ~State() {
    {
      const std::lock_guard lock(mutex);
      quit = true;
      loops.fetch_add(1);
    }
    wake.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  void start(int count) {
    while (workers.size() < static_cast<std::size_t>(count)) {
      workers.emplace_back([this, seen = loops.load()] { work(seen); });
    }
  }

  void work(std::uint64_t seen) {
    for (;;) {
      spin_until([&] { return loops.load(std::memory_order_acquire) != seen; });
      Loop* mine = nullptr;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return loops.load() != seen; });
        seen = loops.load();
        if (quit) return;
        mine = loop;
        if (mine != nullptr && inside.load() == mine->helpers()) mine = nullptr;
        if (mine != nullptr) inside.fetch_add(1);
      }
      if (mine == nullptr) continue;  // The loop is over already, or has helpers enough.
      mine->run();
      {
        const std::lock_guard lock(mutex);
        inside.fetch_sub(1);
      }
      left.notify_one();
    }
  }

  void run(Loop& job) {
    start(job.helpers());
    {
      const std::lock_guard lock(mutex);
      loop = &job;
      loops.fetch_add(1, std::memory_order_release);
    }
    wake.notify_all();
    job.run();
    {
      const std::lock_guard lock(mutex);
      loop = nullptr;  // From here on no thread joins.
    }
    if (spin_until([&] { return inside.load(std::memory_order_acquire) == 0; })) {
      const std::lock_guard lock(mutex);  // The last thread has let go of the mutex, too.
      return;
    }
    std::unique_lock lock(mutex);
    job.wait(lock, left, [&] { return inside.load() == 0; });
  }
};

Workers::Workers() : state_(std::make_unique<State>()) {}

Workers::~Workers() = default;

void Workers::run(Loop& loop) { state_->run(loop); }

int Workers::default_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace taproot::detail
