// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>

namespace taproot::detail {

/// Thrown on the threads of a loop that another thread has ended; never leaves the pool.
struct Stopped {};

/// Ends long work early. Everything that may take long calls check() now and then. On the thread
/// that made this object, check() calls the caller's function at most 20 times per second, and what
/// that throws ends the work. Once the work has been ended, check() throws Stopped on every thread.
class Interrupt {
 public:
  explicit Interrupt(const std::function<void()>& ask) : ask_(ask) {}
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  void check() {
    if (stopped_.load(std::memory_order_relaxed)) throw Stopped{};
    if (!ask_ || std::this_thread::get_id() != caller_) return;
    const auto now = Clock::now();
    if (now - last_ < kPeriod) return;
    last_ = now;
    try {
      ask_();
    } catch (...) {
      stop();
      throw;
    }
  }

  void stop() { stopped_.store(true, std::memory_order_relaxed); }

  static constexpr std::chrono::milliseconds kPeriod{50};

 private:
  using Clock = std::chrono::steady_clock;
  const std::function<void()>& ask_;
  std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point last_ = Clock::now();
  std::atomic<bool> stopped_ = false;
};

/// check() where there may be nobody to ask.
inline void check(Interrupt* interrupt) {
  if (interrupt != nullptr) interrupt->check();
}

/// How many trees of n words to sample between two checks. Enough that reading the clock costs
/// nothing in short sentences, and few enough that the time between two checks stays below the
/// period in long ones.
inline std::size_t trees_between_checks(std::size_t n) {
  return std::max<std::size_t>(1, 4096 / std::max<std::size_t>(1, n));
}

}  // namespace taproot::detail
