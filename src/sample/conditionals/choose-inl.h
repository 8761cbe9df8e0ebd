// SPDX-License-Identifier: Apache-2.0
//
// Chooses an index by weight: the first at which the running sum passes a target. The sums run over
// whole blocks, and then over the lanes of one block. The two round differently, so a search that
// runs off the end takes the last index of positive weight. See core/simd-inl.h for the guard.
#if defined(TAPROOT_SAMPLE_CHOOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SAMPLE_CHOOSE_INL_H_
#undef TAPROOT_SAMPLE_CHOOSE_INL_H_
#else
#define TAPROOT_SAMPLE_CHOOSE_INL_H_
#endif

#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

struct Scan {
  double target;
  double before;  // The sum of all blocks so far.

  HWY_INLINE bool passes(Block block) {
    const double after = before + sum(block);
    if (after > target) return true;
    before = after;
    return false;
  }
};

// The lane at which the running sum passes the target. It counts the lanes whose running sum is not
// above the target, because a branch per lane would be unpredictable.
HWY_INLINE int place(Block block, const Scan& scan) {
  HWY_ALIGN double lanes[kBlock];
  store(block, lanes);
  double running = scan.before;
  int below = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    running += lanes[i];
    below += running <= scan.target ? 1 : 0;
  }
  if (HWY_LIKELY(below < static_cast<int>(kBlock) && lanes[below] > 0)) return below;
  for (below = static_cast<int>(kBlock) - 1; below > 0 && !(lanes[below] > 0);) --below;
  return below;
}

// The last index in [begin, end) of positive weight; begin if there is none.
HWY_NOINLINE inline int last_positive(const double* weights, int begin, int end) {
  int last = end - 1;
  while (last > begin && !(weights[last] > 0)) --last;
  return last;
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SAMPLE_CHOOSE_INL_H_
