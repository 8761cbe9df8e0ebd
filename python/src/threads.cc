// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>

namespace taproot::python {
namespace {

// Memory for sentences beyond this length is kept only while it is used.
constexpr int kKeep = 1000;

// What a thread keeps, lent for as long as this lives. A signal handler may call us while an outer
// call on the same thread is at work with it: then there is another.
class Lease {
 public:
  explicit Lease(int n) {
    Kept& kept = of_thread();
    if (kept.lent) {
      spare_ = std::make_unique<Own>();
      return;
    }
    if (kept.largest > kKeep && n <= kKeep) {
      kept.own = {};
      kept.largest = 0;
    }
    kept.largest = std::max(kept.largest, n);
    kept.lent = true;
  }
  ~Lease() {
    if (spare_ == nullptr) of_thread().lent = false;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Own& own() { return spare_ != nullptr ? *spare_ : of_thread().own; }

 private:
  struct Kept {
    Own own;
    int largest = 0;
    bool lent = false;
  };
  static Kept& of_thread() {
    thread_local Kept kept;
    return kept;
  }
  std::unique_ptr<Own> spare_;
};

struct Shared {
  std::atomic<bool> busy = false;  // Whoever sets it has the pool. No mutex: nobody ever waits.
  std::unique_ptr<Pool> pool;
  int made_for = 0;
  std::atomic<int> threads = 0;
};

Shared* instance = nullptr;  // Never destroyed: threads may still use it at exit.

// In the child of a fork the pool's threads are not there, and it may look busy for ever: the child
// begins anew.
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

// The pool, if nobody else has it.
class PoolLease {
 public:
  PoolLease() : shared_(shared()), mine_(!shared_.busy.exchange(true)) {}
  ~PoolLease() {
    if (mine_) shared_.busy = false;
  }
  PoolLease(const PoolLease&) = delete;
  PoolLease& operator=(const PoolLease&) = delete;

  bool mine() const { return mine_; }
  Pool& pool() {
    const int threads = shared_.threads;
    if (shared_.pool == nullptr || shared_.made_for != threads) {
      shared_.pool = std::make_unique<Pool>(threads);
      shared_.made_for = threads;
    }
    return *shared_.pool;
  }

 private:
  Shared& shared_;
  bool mine_;
};

}  // namespace

void set_num_threads(int threads) { shared().threads = threads; }

int get_num_threads() {
  static const int cores = Pool().threads();
  const int threads = shared().threads;
  return threads == 0 ? cores : threads;
}

void for_each(std::size_t count, int n, Interrupt& interrupt,
              const std::function<void(std::size_t, Own&)>& visit) {
  if (count > 1) {
    PoolLease lease;
    if (lease.mine()) {
      // Some at a time: a short sentence is less work than handing it out.
      Pool& pool = lease.pool();
      const std::size_t pieces = std::min(count, 16 * static_cast<std::size_t>(pool.threads()));
      for_each_index(pool, pieces, [&](std::size_t piece, Workspace&) {
        Lease own(n);
        const std::size_t end = count * (piece + 1) / pieces;
        for (std::size_t i = count * piece / pieces; i < end && interrupt.go_on(); ++i) {
          visit(i, own.own());
        }
      });
      return;
    }
  }
  Lease own(n);
  for (std::size_t index = 0; index < count && interrupt.go_on(); ++index) visit(index, own.own());
}

}  // namespace taproot::python
