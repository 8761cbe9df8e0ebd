// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <optional>

#include "core/check.h"

namespace taproot::detail {

struct Parallel::Arena {
  explicit Arena(int threads) : arena(threads) {
    // More threads than cores only if asked for.
    if (threads > tbb::info::default_concurrency()) {
      control.emplace(tbb::global_control::max_allowed_parallelism,
                      static_cast<std::size_t>(threads));
    }
  }
  std::optional<tbb::global_control> control;
  tbb::task_arena arena;
};

Parallel::Parallel(int threads) : threads_(threads) {
  require(threads >= 0, "Pool", "the number of threads is negative");
  if (threads_ == 0) threads_ = tbb::info::default_concurrency();
  if (threads_ > 1) arena_ = std::make_unique<Arena>(threads_);
}

Parallel::~Parallel() = default;

void Parallel::for_each(std::size_t count,
                        const std::function<void(std::size_t, std::size_t)>& body) {
  if (threads_ == 1) {
    for (std::size_t item = 0; item < count; ++item) body(item, 0);
    return;
  }
  arena_->arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1), [&](const auto& range) {
      const auto slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
      for (std::size_t item = range.begin(); item != range.end(); ++item) {
        // A body that waits for tasks of its own must not begin another item in the same slot.
        tbb::this_task_arena::isolate([&] { body(item, slot); });
      }
    });
  });
}

}  // namespace taproot::detail
