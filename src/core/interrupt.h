// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace taproot::detail {

/// Thrown on the threads of a loop that another thread has ended; never leaves the pool.
struct Stopped {};

/// Ends long work early. Everything that may take long calls check() now and then. On the thread
/// that made this object, check() asks the caller's function a few times a second, and what that
/// throws ends the work; on all other threads check() throws Stopped from then on.
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

}  // namespace taproot::detail
