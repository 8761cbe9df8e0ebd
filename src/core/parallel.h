// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace taproot::detail {

/// A fixed number of threads that share out loops.
class Parallel {
 public:
  explicit Parallel(int threads);
  ~Parallel();
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  int threads() const { return threads_; }

  /// Calls body(item, slot) for every item < count, in any order; calls that run at the same time
  /// have different slots < threads(). With one thread: here, in order, without allocating.
  void for_each(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body);

 private:
  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace taproot::detail
