// SPDX-License-Identifier: Apache-2.0
//
// Runs a test once per instruction set that the library was compiled for and this machine has.
//
//   TEST(Kernel, DoesWhatItSays) {
//     for_each_target([] { EXPECT_EQ(kernel(1), 2); });
//   }
//
// Failures name the target. Afterwards, also after an exception, the library chooses for itself
// again. The choice is a global of the process: start no threads that call kernels and outlive the
// body, and do not nest.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "testing/targets.h"

namespace taproot {

/// Calls body() under each of compiled_targets().
template <typename Body>
void for_each_target(Body&& body) {
  for (const std::int64_t target : compiled_targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const TargetScope scope(target);
    body();
  }
}

}  // namespace taproot
