// SPDX-License-Identifier: Apache-2.0
#include "gil.h"

#include <unistd.h>

#include <atomic>
#include <thread>

namespace taproot::python {
namespace {

std::atomic<bool> exiting = false;
std::thread::id exiting_thread;  // Written before `exiting`.

}  // namespace

void note_exit() {
  exiting_thread = std::this_thread::get_id();
  exiting.store(true, std::memory_order_release);
}

void wait_if_exiting() {
  if (!exiting.load(std::memory_order_acquire)) return;
  if (std::this_thread::get_id() == exiting_thread) return;
  for (;;) pause();
}

}  // namespace taproot::python
