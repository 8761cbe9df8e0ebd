// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/check.h"
#include "core/forks.h"
#include "core/loop.h"
#include "core/workers.h"

namespace taproot::detail {

struct Parallel::Threads {
  std::uint64_t born = fork_count();
  std::atomic<bool> busy = false;
  Workers workers;
};

void Parallel::set_threads(int threads) {
  require(threads >= 0, "Pool", "the number of threads is negative");
  threads_.store(threads == 0 ? Workers::default_threads() : threads, std::memory_order_relaxed);
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
      Loop loop(count, wanted, interrupt, body);
      threads.workers.run(loop);
      loop.rethrow();
      return;
    }
  }
  interrupt.check();
  body(0, count);
}

}  // namespace taproot::detail
