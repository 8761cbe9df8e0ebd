// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <pthread.h>

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
  int threads = 0;

  Pool& get() {
    if (pool == nullptr) pool = std::make_unique<Pool>(threads);
    return *pool;
  }
};

Shared* instance = nullptr;  // Never destroyed: threads may still use it at exit.

// In the child of a fork the pool's threads are not there, and the mutex may be held by one of
// them: the child begins anew.
void begin_anew() {
  const int threads = instance->threads;
  instance = new Shared;
  instance->threads = threads;
}

Shared& shared() {
  static const bool once = [] {
    instance = new Shared;
    return pthread_atfork(nullptr, nullptr, &begin_anew) == 0;
  }();
  static_cast<void>(once);
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
