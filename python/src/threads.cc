// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>

namespace taproot::python {
namespace {

// Memory for sentences beyond this length is kept only while it is used.
constexpr int kKeep = 1000;

struct Shared {
  std::mutex mutex;
  std::unique_ptr<Pool> pool;
  pid_t process = 0;
  int threads = 0;

  // After a fork the pool's threads are those of the parent: it is left as it is, and another made.
  Pool& get() {
    if (pool != nullptr && process != getpid()) static_cast<void>(pool.release());
    if (pool == nullptr) pool = std::make_unique<Pool>(threads);
    process = getpid();
    return *pool;
  }
};

Shared& shared() {
  static auto* instance = new Shared;  // Outlives every thread that may still use it at exit.
  return *instance;
}

}  // namespace

void set_num_threads(int threads) {
  auto pool = std::make_unique<Pool>(threads);  // Throws before anything is changed.
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  s.get();
  s.threads = threads;
  s.pool = std::move(pool);
}

int get_num_threads() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  return s.get().threads();
}

Own& own(int n) {
  thread_local Own instance;
  thread_local int largest = 0;
  if (largest > kKeep && n <= kKeep) {
    instance = {};
    largest = 0;
  }
  largest = std::max(largest, n);
  return instance;
}

void for_each(std::size_t count, int n, Interrupt& interrupt,
              const std::function<void(std::size_t, Workspace&)>& visit) {
  if (count > 1) {
    Shared& s = shared();
    const std::unique_lock lock(s.mutex, std::try_to_lock);
    if (lock.owns_lock()) {
      for_each_index(s.get(), count, [&](std::size_t index, Workspace& workspace) {
        if (interrupt.go_on()) visit(index, workspace);
      });
      if (n > kKeep) s.pool = std::make_unique<Pool>(s.threads);
      return;
    }
  }
  Workspace& workspace = own(n).workspace;
  for (std::size_t index = 0; index < count && interrupt.go_on(); ++index) visit(index, workspace);
}

}  // namespace taproot::python
