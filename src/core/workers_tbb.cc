// SPDX-License-Identifier: Apache-2.0
//
// Workers over oneTBB, for programs that already run on it: builds with TAPROOT_TBB. oneTBB lends
// the threads, and the loop is our own pool's. The caller therefore never waits within oneTBB,
// which could not be interrupted and might run other tasks in the middle of a sentence.
#include "core/workers.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "core/forks.h"

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

// The child of a fork() inherits oneTBB's locks, which may be held, and none of the threads that
// hold them. So if oneTBB was used before, the child asks nothing of it and works alone.
bool is_inherited() {
  static const std::uint64_t first_used = fork_count();
  return first_used != fork_count();
}

}  // namespace

struct Workers::State {
  std::unique_ptr<Arena> arena;
};

Workers::Workers() : state_(std::make_unique<State>()) {}

Workers::~Workers() = default;

void Workers::run(Loop& loop) {
  if (is_inherited()) return loop.run();
  std::unique_ptr<Arena>& arena = state_->arena;
  const int threads = loop.helpers() + 1;
  if (arena == nullptr || arena->made_for != threads) arena = std::make_unique<Arena>(threads);
  const auto meeting = std::make_shared<Meeting>();
  meeting->loop = &loop;
  try {
    for (int i = 0; i < loop.helpers(); ++i) {
      arena->arena.enqueue([meeting] { meeting->help(); });
    }
  } catch (...) {  // There are fewer helpers then. The loop must not end before they have left it.
  }
  meeting->lead();
}

int Workers::default_threads() { return tbb::info::default_concurrency(); }

}  // namespace taproot::detail
