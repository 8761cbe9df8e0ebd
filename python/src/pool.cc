// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

#include <nanobind/nanobind.h>

#include "gil.h"

namespace taproot::python {
namespace {

thread_local bool unsignaled = false;

// Runs Python's signal handlers, which only the thread that Python's call came in on can do.
void let_signals_through() {
  if (unsignaled) return;
  wait_if_exiting();
  const nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace

Unsignaled::Unsignaled() : before_(unsignaled) { unsignaled = true; }
Unsignaled::~Unsignaled() { unsignaled = before_; }

Pool& pool() {
  static auto* instance = new Pool(0, &let_signals_through);  // Never destroyed: see gil.h.
  return *instance;
}

}  // namespace taproot::python
