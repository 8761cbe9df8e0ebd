// SPDX-License-Identifier: Apache-2.0
//
// Choosing an index by weight: the first whose running sum passes a target. A block at a time; see
// core/simd-inl.h for the guard. Sums of blocks and of their lanes round differently: what runs off
// the end is the last index of positive weight.
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
  double before;

  HWY_INLINE bool passes(Block block) {
    const double after = before + sum(block);
    if (after > target) return true;
    before = after;
    return false;
  }
};

// Where in the block the running sum passes the target: how many lanes end at or below it, without
// a branch that nobody could predict. Summed in another order than sum() it may run off the end.
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
