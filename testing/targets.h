// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that the library was compiled for. tests/unit/core/targets.h runs a test
// once for each.
#pragma once

#include <cstdint>
#include <vector>

#include "hwy/targets.h"

namespace taproot {

/// The targets, best first; the last one is the scalar fallback, which is always there. Those of
/// HWY_DISABLED_TARGETS in CMakeLists.txt do not appear: asking for one would run the fallback.
inline std::vector<std::int64_t> compiled_targets() {
  constexpr std::int64_t kFallback = HWY_SCALAR | HWY_EMU128;
#if defined(HWY_SSE2)  // Highway 1.2, where these are the fallbacks.
  constexpr std::int64_t kMore = HWY_SSE2 | HWY_NEON_WITHOUT_AES;
#else
  constexpr std::int64_t kMore = 0;
#endif
  constexpr std::int64_t kCompiled =
      HWY_TARGETS & (HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | HWY_NEON | kMore | kFallback);
  std::vector<std::int64_t> targets;
  std::int64_t left = kCompiled & (hwy::SupportedTargets() | kFallback);
  for (; left != 0; left &= left - 1) targets.push_back(left & -left);
  return targets;
}

/// Whether a target has a fused multiply-add. Without it, sums round differently in their last
/// bits.
inline bool has_fused_multiply_add(std::int64_t target) {
#if defined(HWY_NEON_WITHOUT_AES)
  if (target == HWY_NEON_WITHOUT_AES) return true;
#endif
  return (target & (HWY_AVX3 | HWY_AVX2 | HWY_NEON)) != 0;
}

/// Makes the library use one target for as long as it lives. The choice is a global of the process.
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

}  // namespace taproot
