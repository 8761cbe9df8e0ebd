// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace taproot::python {

/// Called by Python at exit, before it takes threads down.
void note_exit();

/// When Python is on its way out, a thread that asks for the GIL is unwound in the middle of C++,
/// which C++ does not survive. So such a thread waits here for the end instead. (The thread that
/// ends Python goes through.)
void wait_if_exiting();

/// The GIL released while this lives.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() {
    wait_if_exiting();
    PyEval_RestoreThread(state_);
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// work() with the GIL released.
template <typename Work>
auto without_gil(Work&& work) {
  const Released released;
  return work();
}

}  // namespace taproot::python
