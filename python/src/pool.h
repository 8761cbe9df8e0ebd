// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "taproot/dependency_trees.h"

namespace taproot::python {

/// The pool that all batches of the process run on. Its interrupt lets Ctrl-C through.
Pool& pool();

/// While this lives, the pool's interrupt does nothing for questions of this thread: they come from
/// compiled code, which has no use for a Python exception.
class Unsignaled {
 public:
  Unsignaled();
  ~Unsignaled();
  Unsignaled(const Unsignaled&) = delete;
  Unsignaled& operator=(const Unsignaled&) = delete;

 private:
  bool before_;
};

}  // namespace taproot::python
