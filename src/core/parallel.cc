// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/forks.h"
#include "core/loop.h"

namespace taproot::detail {
namespace {

using Clock = std::chrono::steady_clock;

// Waking a thread takes tens of microseconds, as long as many a batch. So a thread that has nothing
// to do looks for work for a while before it sleeps, and so does a caller for the end of a loop.
// From kSpin on it lets others go first: between two calls for short sentences, a step of PyTorch
// takes longer than that, and its own threads may want the core.
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

struct Parallel::Threads {
  std::uint64_t born = fork_count();
  std::atomic<bool> busy = false;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable left;
  std::atomic<std::uint64_t> loops = 0;  // How many were begun; its change is the signal to work.
  std::atomic<int> inside = 0;           // Threads at work on the loop.
  Loop* loop = nullptr;
  bool quit = false;
  std::vector<std::thread> workers;

  ~Threads() {
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

void Parallel::set_threads(int threads) {
  require(threads >= 0, "Pool", "the number of threads is negative");
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  threads_.store(threads == 0 ? cores : threads, std::memory_order_relaxed);
}

Parallel::~Parallel() {
  // In the child of a fork the threads are not there to be joined.
  const Threads* pool = pool_.load();
  if (pool != nullptr && pool->born == fork_count()) delete pool;
}

Parallel::Threads& Parallel::pool() {
  Threads* pool = pool_.load(std::memory_order_acquire);
  // After fork() the child has no worker threads, and the mutex may be locked forever. So the old
  // pool is leaked, not destroyed, and a new one is made.
  while (pool == nullptr || pool->born != fork_count()) {
    auto fresh = std::make_unique<Threads>();
    if (pool_.compare_exchange_strong(pool, fresh.get())) return *fresh.release();
  }
  return *pool;
}

void Parallel::for_each(std::size_t count, Interrupt& interrupt,
                        const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  const int wanted = threads();
  if (wanted > 1 && count > 1) {
    Threads& threads = pool();
    if (!threads.busy.exchange(true, std::memory_order_acquire)) {
      struct Release {
        Threads& threads;
        ~Release() { threads.busy.store(false, std::memory_order_release); }
      } const release{threads};
      threads.start(wanted - 1);
      Loop loop(count, wanted, interrupt, body);
      threads.run(loop);
      loop.rethrow();
      return;
    }
  }
  interrupt.check();
  body(0, count);
}

}  // namespace taproot::detail
