// SPDX-License-Identifier: Apache-2.0
#include "batch/pool.h"

#include <algorithm>
#include <utility>

#include "eliminate/factor_data.h"

namespace taproot {
namespace detail {
namespace {

// A thread gives back the memory of longer sentences with the next batch that has none of them.
constexpr int kKeep = 1000;

struct Lent {
  ThreadMemory memory;
  int longest = 0;
  bool is_lent = false;
};

Lent& of_thread() {
  thread_local Lent lent;
  return lent;
}

}  // namespace

Lease::Lease(int n, Interrupt& interrupt) {
  Lent& lent = of_thread();
  if (lent.is_lent) {
    spare_ = std::make_unique<ThreadMemory>();
    memory_ = spare_.get();
  } else {
    if (lent.longest > kKeep && n <= kKeep) {
      lent.memory = {};
      lent.longest = 0;
    }
    lent.longest = std::max(lent.longest, n);
    lent.is_lent = true;
    memory_ = &lent.memory;
  }
  Access::scratch(memory_->workspace).interrupt = &interrupt;
}

Lease::~Lease() {
  Access::scratch(memory_->workspace).interrupt = nullptr;
  if (spare_ == nullptr) of_thread().is_lent = false;
}

void for_each(Pool::Impl& pool, std::size_t count, int n,
              const std::function<void(std::size_t, ThreadMemory&)>& visit) {
  Interrupt interrupt(pool.interrupt);
  const auto piece = [&](std::size_t begin, std::size_t end) {
    Lease lease(n, interrupt);
    for (std::size_t i = begin; i < end; ++i) {
      interrupt.check();
      visit(i, lease.memory());
    }
  };
  pool.parallel.for_each(count, interrupt, std::cref(piece));
}

}  // namespace detail

Pool::Pool(int threads, std::function<void()> interrupt)
    : impl_(std::make_unique<Impl>(threads, std::move(interrupt))) {}
Pool::~Pool() = default;
Pool::Pool(Pool&&) noexcept = default;
Pool& Pool::operator=(Pool&&) noexcept = default;

int Pool::threads() const { return impl_->parallel.threads(); }
void Pool::set_threads(int threads) { impl_->parallel.set_threads(threads); }

void Pool::for_each(std::size_t count, const std::function<void(std::size_t)>& visit) {
  detail::Interrupt interrupt(impl_->interrupt);
  impl_->parallel.for_each(count, interrupt, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      interrupt.check();
      visit(i);
    }
  });
}

}  // namespace taproot
