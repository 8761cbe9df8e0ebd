// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/loop.h"

namespace taproot::detail {

/// The threads that a Parallel lends to its loops: our own (workers.cc) or, with TAPROOT_TBB, those
/// of oneTBB (workers_tbb.cc). They start with the first loop.
class Workers {
 public:
  Workers();
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs the loop on the caller's thread and on at most loop.helpers() others, and returns when
  /// all have left it. One loop at a time.
  void run(Loop& loop);

  /// One thread per core that this process may use.
  static int default_threads();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taproot::detail
