// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace taproot::detail {

/// Something that is found once and then read by all. The thread that finds it holds a Finder;
/// other threads wait until that Finder is destroyed.
class Once {
 public:
  bool done() const { return done_.load(std::memory_order_acquire); }

  class Finder {
   public:
    /// Does nothing if `wanted` is false or if the value has been found already.
    Finder(Once& once, bool wanted) : once_(once) {
      if (!wanted || once.done()) return;
      if (once.finder_.load() == std::this_thread::get_id()) {
        throw std::runtime_error(
            "[DependencyTrees] a signal handler asked a question while its thread was at work on "
            "this object's first question; ask after that question has ended");
      }
      lock_ = std::unique_lock(once.mutex_);
      if (once.done_.load(std::memory_order_relaxed)) {
        lock_.unlock();
      } else {
        once.finder_ = std::this_thread::get_id();
      }
    }
    ~Finder() {
      if (mine()) once_.finder_ = std::thread::id();
    }
    Finder(const Finder&) = delete;
    Finder& operator=(const Finder&) = delete;

    /// Whether this thread is to find it.
    bool mine() const { return lock_.owns_lock(); }
    /// It is complete. Without this call, whoever comes next starts again.
    void found() {
      if (mine()) once_.done_.store(true, std::memory_order_release);
    }

   private:
    Once& once_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  std::atomic<bool> done_ = false;
  std::atomic<std::thread::id> finder_ = std::thread::id();
  std::mutex mutex_;
};

}  // namespace taproot::detail
