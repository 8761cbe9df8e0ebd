// SPDX-License-Identifier: Apache-2.0
#include "core/forks.h"

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <atomic>

namespace taproot::detail {
namespace {

std::atomic<std::uint64_t> forks = 0;

}  // namespace

std::uint64_t fork_count() {
#if !defined(_WIN32)
  static const bool watched =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
  static_cast<void>(watched);
#endif
  return forks.load(std::memory_order_relaxed);
}

}  // namespace taproot::detail
