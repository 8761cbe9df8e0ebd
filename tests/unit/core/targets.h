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
#include <vector>

#include "hwy/targets.h"

namespace taproot {

/// The targets, best first; the last one is the scalar fallback, which is always there. Those of
/// HWY_DISABLED_TARGETS in CMakeLists.txt do not appear: asking for one would run the fallback.
inline std::vector<std::int64_t> compiled_targets() {
  constexpr std::int64_t kFallback = HWY_SCALAR | HWY_EMU128;
  constexpr std::int64_t kCompiled =
      HWY_TARGETS & (HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | HWY_NEON | kFallback);
  std::vector<std::int64_t> targets;
  std::int64_t left = kCompiled & (hwy::SupportedTargets() | kFallback);
  for (; left != 0; left &= left - 1) targets.push_back(left & -left);
  return targets;
}

/// Makes the library use one target for as long as it lives.
class TargetScope {
 public:
  explicit TargetScope(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
  }
  ~TargetScope() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();  // The next call of a kernel looks at the machine again.
  }
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;
};

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
