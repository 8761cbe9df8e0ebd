// SPDX-License-Identifier: Apache-2.0
// gcc 12 takes the undefined lanes inside its own intrinsics for uninitialized variables (bug
// 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "sample/walk/pop.h"

#include "sample/sample_scratch.h"

// This file alone uses the byte permutations that AVX3_DL adds to AVX3.
#define HWY_WANT_AVX3_DL
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/walk/pop.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "hwy/highway.h"
#include "sample/walk/cycles-inl.h"
#include "sample/walk/registers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

#if TAPROOT_POPS_IN_REGISTERS
// Where registers are the faster way. They hold several short trees, so they are slower for one
// short tree. They pop all cycles at once, which is wasted on a longer tree that two words alone
// make exceed its limits.
static bool registers_are_faster(const PopRequest& request) {
  constexpr int kMostAlone = 7;
  constexpr int kMostGivenUp = 15;
  switch (request.way) {
    case PopWay::kFastest:
      return request.count > 1 || request.tables.n > kMostAlone;
    case PopWay::kGiveUp:
      return request.tables.n <= kMostGivenUp || has_long_cycles(request);
    case PopWay::kInRegisters:
      return true;
    default:
      return false;
  }
}
#endif

static void pop(const PopRequest& request, PopScratch& scratch, Interrupt* interrupt) {
  const int n = request.tables.n;
#if TAPROOT_POPS_IN_REGISTERS
  if (n <= 255 && registers_are_faster(request)) {
    return pop_in_registers_by_length(request, scratch, interrupt);
  }
#endif
  if (n < kMostPacked) return pop_singly<false>(request, scratch, interrupt);
  pop_singly<true>(request, scratch, interrupt);
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(pop);

void pop_trees(const PopRequest& request, Scratch& scratch) {
  PopScratch& own = scratch.get<SampleScratch>().pop;
  HWY_DYNAMIC_DISPATCH(pop)(request, own, scratch.interrupt);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
