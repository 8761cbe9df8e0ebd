// SPDX-License-Identifier: Apache-2.0
//
// Parallel over oneTBB, for programs that already run on it: builds with TAPROOT_TBB.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/check.h"
#include "core/forks.h"
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

}  // namespace

struct Parallel::Threads {
  std::uint64_t born = fork_count();
  std::atomic<bool> busy = false;
  std::unique_ptr<Arena> arena;
};

Parallel::Parallel(int threads) : pool_(std::make_unique<Threads>()) { set_threads(threads); }

void Parallel::set_threads(int threads) {
  require(threads >= 0, "Pool", "the number of threads is negative");
  threads_.store(threads == 0 ? tbb::info::default_concurrency() : threads,
                 std::memory_order_relaxed);
}

Parallel::~Parallel() {
  // What a child of fork() inherits of oneTBB cannot be taken down.
  if (pool_->born != fork_count()) static_cast<void>(pool_.release());
}

void Parallel::for_each(std::size_t count, Interrupt& interrupt,
                        const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  const int wanted = threads();
  if (wanted > 1 && count > 1) {
    if (pool_->born != fork_count()) {
      static_cast<void>(pool_.release());
      pool_ = std::make_unique<Threads>();
    }
    Threads& pool = *pool_;
    if (!pool.busy.exchange(true, std::memory_order_acquire)) {
      struct Release {
        Threads& pool;
        ~Release() { pool.busy.store(false, std::memory_order_release); }
      } const release{pool};
      if (pool.arena == nullptr || pool.arena->made_for != wanted) {
        pool.arena = std::make_unique<Arena>(wanted);
      }
      const std::size_t pieces =
          std::min(count, kPiecesPerThread * static_cast<std::size_t>(wanted));
      pool.arena->arena.execute([&] {
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, pieces, 1), [&](const auto& range) {
          for (std::size_t piece = range.begin(); piece != range.end(); ++piece) {
            try {
              interrupt.check();
              body(count * piece / pieces, count * (piece + 1) / pieces);
            } catch (const Stopped&) {
              return;  // Whoever stopped the loop has the error.
            } catch (...) {
              interrupt.stop();
              throw;
            }
          }
        });
      });
      return;
    }
  }
  interrupt.check();
  body(0, count);
}

}  // namespace taproot::detail
