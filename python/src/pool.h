// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "taproot/dependency_trees.h"

namespace taproot::python {

/// The pool that all batches of the process run on. Its interrupt lets Ctrl-C through.
Pool& pool();

/// While this lives, questions of this thread do not look for Ctrl-C. It is for calls from XLA,
/// which cannot pass on a Python exception. It may be nested.
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
