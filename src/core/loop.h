// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "core/interrupt.h"
#include "core/parallel.h"

namespace taproot::detail {

/// One loop of a Parallel, in pieces that threads take one after the other. It lives on the
/// caller's stack until the last thread that joined it has left.
class Loop {
 public:
  Loop(std::size_t count, int threads, Interrupt& interrupt,
       const std::function<void(std::size_t, std::size_t)>& body)
      : count_(count),
        pieces_(std::min(count, kPiecesPerThread * static_cast<std::size_t>(threads))),
        helpers_(threads - 1),
        interrupt_(interrupt),
        body_(body) {}

  /// How many threads may join the caller.
  int helpers() const { return helpers_; }

  /// Takes pieces until there are none left, or until something is thrown on some thread.
  void run() {
    try {
      for (;;) {
        const std::size_t piece = next_.fetch_add(1, std::memory_order_relaxed);
        if (piece >= pieces_) return;
        interrupt_.check();
        body_(count_ * piece / pieces_, count_ * (piece + 1) / pieces_);
      }
    } catch (const Stopped&) {
      // The thread that stopped the loop has the error.
    } catch (...) {
      fail(std::current_exception());
    }
  }

  /// Waits on the caller's thread until done() is true. done() is called under the lock, and
  /// `changed` is notified when its answer changes. Meanwhile the interrupt may end the loop on the
  /// other threads.
  template <typename Done>
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Done&& done) {
    while (!changed.wait_for(lock, Interrupt::kPeriod, done)) {
      lock.unlock();
      try {
        interrupt_.check();
      } catch (const Stopped&) {
      } catch (...) {
        fail(std::current_exception());
      }
      lock.lock();
    }
  }

  /// Once all threads have left: what was thrown first, if anything was.
  void rethrow() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void fail(std::exception_ptr what) {
    interrupt_.stop();
    next_.store(pieces_, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(what);
  }

  std::size_t count_;
  std::size_t pieces_;
  int helpers_;
  Interrupt& interrupt_;
  const std::function<void(std::size_t, std::size_t)>& body_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace taproot::detail
