// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "gil.h"

namespace taproot::python {

/// Lets Ctrl-C through work that runs without the GIL: every piece of work asks go_on() first. The
/// thread that the call came in on then looks, a few times a second, whether a signal is pending;
/// if it is, that thread throws Python's exception, and the pieces on other threads are left out.
class Interrupt {
 public:
  bool go_on() {
    if (stopped_.load(std::memory_order_relaxed)) return false;
    if (std::this_thread::get_id() != caller_) return true;
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return true;
    last_ = now;
    wait_if_exiting();
    const nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return true;
    stopped_.store(true, std::memory_order_relaxed);
    throw nanobind::python_error();
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point last_ = Clock::now();
  std::atomic<bool> stopped_ = false;
};

}  // namespace taproot::python
