// SPDX-License-Identifier: Apache-2.0
//
// Parallel over oneTBB, for programs that already run on it: builds with TAPROOT_TBB. oneTBB lends
// the threads; the loop is the one of our own pool. So the caller does not wait within oneTBB,
// where it could not be interrupted, and runs no other tasks in the middle of a sentence.
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "core/check.h"
#include "core/forks.h"
#include "core/loop.h"
#include "core/parallel.h"

namespace taproot::detail {
namespace {

struct Arena {
  explicit Arena(int threads) : made_for(threads), arena(threads) {
    // More threads than cores only if asked for.
    if (threads > tbb::info::default_concurrency()) {
      control.emplace(tbb::global_control::max_allowed_parallelism,
                      static_cast<std::size_t>(threads));
    }
  }
  int made_for;
  std::optional<tbb::global_control> control;
  tbb::task_arena arena;
};

// What the caller of a loop and its helpers share. A helper that oneTBB runs too late finds it
// closed.
struct Meeting {
  std::mutex mutex;
  std::condition_variable left;
  Loop* loop;
  int inside = 0;

  void help() {
    Loop* mine = nullptr;
    {
      const std::lock_guard lock(mutex);
      if (loop == nullptr) return;
      mine = loop;
      ++inside;
    }
    mine->run();
    const std::lock_guard lock(mutex);
    --inside;
    left.notify_one();
  }

  void lead() {
    loop->run();
    std::unique_lock lock(mutex);
    Loop& mine = *loop;
    loop = nullptr;  // From here on no thread joins.
    mine.wait(lock, left, [&] { return inside == 0; });
  }
};

}  // namespace

struct Parallel::Threads {
  std::uint64_t born = fork_count();
  std::atomic<bool> busy = false;
  std::unique_ptr<Arena> arena;
};

void Parallel::set_threads(int threads) {
  require(threads >= 0, "Pool", "the number of threads is negative");
  threads_.store(threads == 0 ? tbb::info::default_concurrency() : threads,
                 std::memory_order_relaxed);
}

Parallel::~Parallel() {
  // What a child of fork() inherits of oneTBB cannot be taken down.
  const Threads* pool = pool_.load();
  if (pool != nullptr && pool->born == fork_count()) delete pool;
}

Parallel::Threads& Parallel::pool() {
  Threads* pool = pool_.load(std::memory_order_acquire);
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
      if (threads.arena == nullptr || threads.arena->made_for != wanted) {
        threads.arena = std::make_unique<Arena>(wanted);
      }
      Loop loop(count, wanted, interrupt, body);
      const auto meeting = std::make_shared<Meeting>();
      meeting->loop = &loop;
      for (int i = 0; i < loop.helpers(); ++i) {
        threads.arena->arena.enqueue([meeting] { meeting->help(); });
      }
      meeting->lead();
      loop.rethrow();
      return;
    }
  }
  interrupt.check();
  body(0, count);
}

}  // namespace taproot::detail
