// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "core/interrupt.h"

namespace taproot::detail {

/// A fixed number of threads that share out loops: our own, or those of oneTBB (core/workers.h).
/// The threads start with the first loop that needs them.
///
/// Safe to use from several threads: while a loop runs, another caller's loop, or one from within
/// the first, runs on its caller's thread alone. Safe to use after fork(): a child starts threads
/// of its own (with oneTBB it works on the caller's thread alone).
class Parallel {
 public:
  /// 0 means one thread per core. Throws std::invalid_argument when negative.
  explicit Parallel(int threads) { set_threads(threads); }
  ~Parallel();
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  int threads() const { return threads_.load(std::memory_order_relaxed); }
  /// As in the constructor; takes effect with the next loop.
  void set_threads(int threads);

  /// Calls body(begin, end) for ranges that cover 0..count, in any order, from any thread; the
  /// caller's works too. What a body throws ends the loop and is rethrown here; the interrupt is
  /// asked while the caller waits. With one thread: here, in one piece, without allocating.
  void for_each(std::size_t count, Interrupt& interrupt,
                const std::function<void(std::size_t, std::size_t)>& body);

 private:
  struct Threads;
  /// This process's threads.
  Threads& pool();

  std::atomic<int> threads_ = 1;
  std::atomic<Threads*> pool_ = nullptr;
};

/// How many pieces a loop is cut into for each thread: enough to even out long and short
/// sentences, few enough for handing them out to cost nothing.
inline constexpr std::size_t kPiecesPerThread = 16;

}  // namespace taproot::detail
