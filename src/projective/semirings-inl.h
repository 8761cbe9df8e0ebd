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
#include <cstdint>

#include "core/simd-inl.h"

// A part of a kernel, which is inlined into it, but not in builds with all internal checks: GCC
// takes minutes for what the sanitizers would make of the whole.
#undef TAPROOT_KERNEL_PART
#if defined(TAPROOT_CHECK_LEVEL) && TAPROOT_CHECK_LEVEL >= 2
#define TAPROOT_KERNEL_PART HWY_NOINLINE
#else
#define TAPROOT_KERNEL_PART HWY_INLINE
#endif

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// kWidth is how many blocks of starts the inside pass takes at a time: as many as have room in the
// registers. The order of the additions does not depend on it.

// The number x in one lane, zeros in the others.
HWY_INLINE Block in_lane(double x, size_t lane) {
  HWY_ALIGN double lanes[kBlock] = {};
  lanes[lane] = x;
  return load(lanes);
}

// Every vector turned by kLanes - kBy lanes toward the last lane.
template <size_t kBy>
HWY_INLINE Block turned(Block a) {
  HWY_ALIGN std::int64_t from[kLanes];
  for (size_t i = 0; i < kLanes; ++i) from[i] = static_cast<std::int64_t>((i + kBy) % kLanes);
  const auto indices = hn::SetTableIndices(D(), from);
  for (V& v : a.v) v = hn::TableLookupLanes(v, indices);
  return a;
}
// Lanes 1..7 of a block, and `next` behind them.
HWY_INLINE Block shifted_down(Block a, double next) {
  a = turned<1>(a);
  for (size_t i = 0; i < kVectors; ++i) {
    const V after = i + 1 < kVectors ? a.v[(i + 1) % kVectors] : hn::Set(D(), next);
    a.v[i] = hn::IfThenElse(hn::FirstN(D(), kLanes - 1), a.v[i], after);
  }
  return a;
}
// `before`, and lanes 0..6 of a block behind it.
HWY_INLINE Block shifted_up(double before, Block a) {
  a = turned<kLanes - 1>(a);
  for (size_t i = kVectors; i-- > 0;) {
    const V first = i > 0 ? a.v[(i + kVectors - 1) % kVectors] : hn::Set(D(), before);
    a.v[i] = hn::IfThenElse(hn::FirstN(D(), 1), first, a.v[i]);
  }
  return a;
}

struct SumProduct {
  using Value = Block;
  static constexpr size_t kWidth = kLanes == 8 ? 3 : 1;

  HWY_INLINE Value zero() const { return broadcast(0.0); }
  HWY_INLINE Value lane(const double* p, size_t i) const { return in_lane(*p, i); }
  // One number: 1 or 0 of the semiring.
  HWY_INLINE void set(double* p, bool one) const { *p = one ? 1.0 : 0.0; }
  HWY_INLINE Value load(const double* p) const { return HWY_NAMESPACE::load(p); }
  // What is one position on from `a`, which is the block before p.
  HWY_INLINE Value later(Value a, const double* p) const { return shifted_down(a, *p); }
  // What is one position back from `a`, which is the block after p.
  HWY_INLINE Value earlier(Value a, const double* p) const { return shifted_up(*p, a); }
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
  HWY_INLINE Value later(Value a, const double* p) const { return shifted_down(a, *p); }
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
  HWY_INLINE Value later(Value a, const double* p) const {
    return {shifted_down(a.value, p[0]), shifted_down(a.slope, p[slope])};
  }
  HWY_INLINE Value earlier(Value a, const double* p) const {
    return {shifted_up(p[0], a.value), shifted_up(p[slope], a.slope)};
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
