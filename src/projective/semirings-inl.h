// SPDX-License-Identifier: Apache-2.0
//
// What the passes over a chart are written over: eight spans side by side, as plain numbers, as
// numbers under (max, +), or as numbers with a derivative. See core/simd-inl.h for the guard.
#if defined(TAPROOT_PROJECTIVE_SEMIRINGS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_PROJECTIVE_SEMIRINGS_INL_H_
#undef TAPROOT_PROJECTIVE_SEMIRINGS_INL_H_
#else
#define TAPROOT_PROJECTIVE_SEMIRINGS_INL_H_
#endif

#include <cmath>

#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// kWidth is how many blocks of spans the inside pass takes at a time: as many as have room in the
// registers. The order of the additions does not depend on it.

// The number x in one lane, zeros in the others.
HWY_INLINE Block in_lane(double x, size_t lane) {
  HWY_ALIGN double lanes[kBlock] = {};
  lanes[lane] = x;
  return load(lanes);
}

struct SumProduct {
  using Value = Block;
  static constexpr size_t kWidth = kLanes == 8 ? 3 : 1;

  HWY_INLINE Value zero() const { return broadcast(0.0); }
  HWY_INLINE Value lane(const double* p, size_t i) const { return in_lane(*p, i); }
  // One number: 1 or 0 of the semiring.
  HWY_INLINE void set(double* p, bool one) const { *p = one ? 1.0 : 0.0; }
  HWY_INLINE Value load(const double* p) const { return HWY_NAMESPACE::load(p); }
  HWY_INLINE void store(Value a, double* p) const { HWY_NAMESPACE::store(a, p); }
  HWY_INLINE Value plus(Value a, Value b) const { return add(a, b); }
  HWY_INLINE Value times(Value a, Value b) const { return multiply(a, b); }
  // a b + c
  HWY_INLINE Value accumulate(Value a, Value b, Value c) const { return multiply_add(a, b, c); }
};

struct MaxPlus {
  using Value = Block;
  static constexpr size_t kWidth = kLanes == 8 ? 3 : 1;

  HWY_INLINE Value zero() const { return broadcast(-HUGE_VAL); }
  HWY_INLINE void set(double* p, bool one) const { *p = one ? 0.0 : -HUGE_VAL; }
  HWY_INLINE Value load(const double* p) const { return HWY_NAMESPACE::load(p); }
  HWY_INLINE void store(Value a, double* p) const { HWY_NAMESPACE::store(a, p); }
  HWY_INLINE Value plus(Value a, Value b) const {
    for (size_t i = 0; i < kVectors; ++i) a.v[i] = hn::Max(a.v[i], b.v[i]);
    return a;
  }
  HWY_INLINE Value times(Value a, Value b) const { return add(a, b); }
  HWY_INLINE Value accumulate(Value a, Value b, Value c) const { return plus(add(a, b), c); }
};

// A number and its derivative, which lies `slope` doubles behind it.
struct DualSumProduct {
  struct Value {
    Block value;
    Block slope;
  };
  static constexpr size_t kWidth = 1;

  std::ptrdiff_t slope;

  HWY_INLINE Value zero() const { return {broadcast(0.0), broadcast(0.0)}; }
  HWY_INLINE Value lane(const double* p, size_t i) const {
    return {in_lane(p[0], i), in_lane(p[slope], i)};
  }
  HWY_INLINE void set(double* p, bool one) const {
    p[0] = one ? 1.0 : 0.0;
    p[slope] = 0.0;
  }
  HWY_INLINE Value load(const double* p) const {
    return {HWY_NAMESPACE::load(p), HWY_NAMESPACE::load(p + slope)};
  }
  HWY_INLINE void store(Value a, double* p) const {
    HWY_NAMESPACE::store(a.value, p);
    HWY_NAMESPACE::store(a.slope, p + slope);
  }
  HWY_INLINE Value plus(Value a, Value b) const {
    return {add(a.value, b.value), add(a.slope, b.slope)};
  }
  HWY_INLINE Value times(Value a, Value b) const {
    return {multiply(a.value, b.value), multiply_add(a.value, b.slope, multiply(a.slope, b.value))};
  }
  HWY_INLINE Value accumulate(Value a, Value b, Value c) const {
    return {multiply_add(a.value, b.value, c.value),
            multiply_add(a.value, b.slope, multiply_add(a.slope, b.value, c.slope))};
  }
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_PROJECTIVE_SEMIRINGS_INL_H_
