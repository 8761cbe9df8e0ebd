// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/interrupt.h"
#include "core/parallel.h"
#include "taproot/dependency_trees.h"

namespace taproot {

struct Pool::Impl {
  Impl(int threads, std::function<void()> ask) : parallel(threads), interrupt(std::move(ask)) {}

  detail::Parallel parallel;
  std::function<void()> interrupt;
};

namespace detail {

/// What a thread works with, kept from call to call.
struct ThreadMemory {
  Workspace workspace;
  Factorization factorization;
  Factorization second;  ///< For questions about two sentences.
  Sampler sampler;
  WithoutReplacementSampler without_replacement;
  std::vector<Status> statuses;  ///< Of sampled trees.
};

/// Lends the thread's memory for as long as it lives. A signal handler may ask a question while
/// the same thread is at work on another: then it gets memory of its own.
class Lease {
 public:
  /// For sentences of up to n words.
  Lease(int n, Interrupt& interrupt);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  ThreadMemory& memory() { return *memory_; }

 private:
  std::unique_ptr<ThreadMemory> spare_;
  ThreadMemory* memory_;
};

/// visit(index, memory) for every index < count, on the pool's threads, for sentences of up to n
/// words.
void for_each(Pool::Impl& pool, std::size_t count, int n,
              const std::function<void(std::size_t, ThreadMemory&)>& visit);

}  // namespace detail
}  // namespace taproot
