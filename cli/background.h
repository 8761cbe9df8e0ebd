// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <utility>

namespace taproot::cli {

/// Runs one job at a time behind the caller's back: numbers and .npz files of one chunk are written
/// while the next one is computed. Without threads each job runs at once.
class Background {
 public:
  explicit Background(bool threads) : threads_(threads) {}

  /// Waits for the job before, and rethrows what it threw.
  void run(std::function<void()> job) {
    wait();
    if (!threads_) return job();
    running_ = std::async(std::launch::async, std::move(job));
  }

  void wait() {
    if (running_.valid()) running_.get();
  }

 private:
  bool threads_;
  std::future<void> running_;
};

}  // namespace taproot::cli
