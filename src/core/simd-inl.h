// SPDX-License-Identifier: Apache-2.0
//
// Vector operations that all kernels share. Files that use hwy/foreach_target.h include this once
// per target, so it has a guard that toggles in place of #pragma once.
#if defined(TAPROOT_CORE_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_CORE_SIMD_INL_H_
#undef TAPROOT_CORE_SIMD_INL_H_
#else
#define TAPROOT_CORE_SIMD_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr size_t kBlock = 8;
using D = hn::CappedTag<double, kBlock>;
using V = hn::Vec<D>;
inline constexpr size_t kLanes = hn::MaxLanes(D());
inline constexpr size_t kVectors = kBlock / kLanes;

// Eight doubles in as many vectors as the target needs. Matrices are padded to whole blocks, so
// kernels have no tails. The lanes are always summed in the same order, so all targets give the
// same bits, except those without a fused multiply-add (SSE and scalar).
struct Block {
  V v[kVectors];
};

HWY_INLINE Block load(const double* HWY_RESTRICT p) {
  Block b;
  for (size_t i = 0; i < kVectors; ++i) b.v[i] = hn::LoadU(D(), p + i * kLanes);
  return b;
}
HWY_INLINE void store(Block b, double* HWY_RESTRICT p) {
  for (size_t i = 0; i < kVectors; ++i) hn::StoreU(b.v[i], D(), p + i * kLanes);
}
HWY_INLINE Block broadcast(double x) {
  Block b;
  for (size_t i = 0; i < kVectors; ++i) b.v[i] = hn::Set(D(), x);
  return b;
}
HWY_INLINE Block add(Block a, Block b) {
  for (size_t i = 0; i < kVectors; ++i) a.v[i] = hn::Add(a.v[i], b.v[i]);
  return a;
}
HWY_INLINE Block multiply(Block a, Block b) {
  for (size_t i = 0; i < kVectors; ++i) a.v[i] = hn::Mul(a.v[i], b.v[i]);
  return a;
}
// a * b + c
HWY_INLINE Block multiply_add(Block a, Block b, Block c) {
  for (size_t i = 0; i < kVectors; ++i) c.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return c;
}
// The first `count` lanes of b, zero in the others.
HWY_INLINE Block first(size_t count, Block b) {
  for (size_t i = 0; i < kVectors; ++i) {
    const size_t here = count > i * kLanes ? count - i * kLanes : 0;
    b.v[i] = hn::IfThenElseZero(hn::FirstN(D(), here), b.v[i]);
  }
  return b;
}
// b with its first `count` lanes zero.
HWY_INLINE Block without_firsts(size_t count, Block b) {
  for (size_t i = 0; i < kVectors; ++i) {
    const size_t here = count > i * kLanes ? count - i * kLanes : 0;
    b.v[i] = hn::IfThenZeroElse(hn::FirstN(D(), here), b.v[i]);
  }
  return b;
}
// b with its first lane zero.
HWY_INLINE Block without_first(Block b) {
  b.v[0] = hn::IfThenZeroElse(hn::Eq(hn::Iota(D(), 0.0), hn::Zero(D())), b.v[0]);
  return b;
}
// The sum of the lanes, in the order ((0+4)+(2+6)) + ((1+5)+(3+7)) on every target.
HWY_INLINE double sum(Block b) {
#if HWY_MAX_BYTES >= 32
  const hn::CappedTag<double, 2> d2;
#if HWY_MAX_BYTES >= 64
  const hn::CappedTag<double, 4> d4;
  const auto s4 = hn::Add(hn::LowerHalf(d4, b.v[0]), hn::UpperHalf(d4, b.v[0]));
#else
  const auto s4 = hn::Add(b.v[0], b.v[1]);
#endif
  const auto s2 = hn::Add(hn::LowerHalf(d2, s4), hn::UpperHalf(d2, s4));
  return hn::GetLane(hn::Add(s2, hn::Reverse2(d2, s2)));
#else
  HWY_ALIGN double s[kBlock];
  store(b, s);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
#endif
}
// a * b + c on scalars, fused on exactly those targets on which the vector form is.
HWY_INLINE double multiply_add(double a, double b, double c) {
  const hn::CappedTag<double, 1> d;
  return hn::GetLane(hn::MulAdd(hn::Set(d, a), hn::Set(d, b), hn::Set(d, c)));
}

// The side of the squares in which matrices are transposed.
inline constexpr size_t kSquare = HWY_MAX_BYTES >= 32 ? 4 : 2;

// to[j][i] = from[i][j] for i, j < kSquare.
HWY_INLINE void transpose(const double* const* from, double* const* to) {
#if HWY_MAX_BYTES >= 32
  const hn::CappedTag<double, 4> d;
  const auto a = hn::LoadU(d, from[0]);
  const auto b = hn::LoadU(d, from[1]);
  const auto c = hn::LoadU(d, from[2]);
  const auto e = hn::LoadU(d, from[3]);
  // First exchange elements within halves of 128 bits, then exchange the halves.
  const auto ab_even = hn::InterleaveLower(d, a, b);
  const auto ab_odd = hn::InterleaveUpper(d, a, b);
  const auto ce_even = hn::InterleaveLower(d, c, e);
  const auto ce_odd = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce_even, ab_even), d, to[0]);
  hn::StoreU(hn::ConcatLowerLower(d, ce_odd, ab_odd), d, to[1]);
  hn::StoreU(hn::ConcatUpperUpper(d, ce_even, ab_even), d, to[2]);
  hn::StoreU(hn::ConcatUpperUpper(d, ce_odd, ab_odd), d, to[3]);
#else
  for (size_t j = 0; j < kSquare; ++j) {
    for (size_t i = 0; i < kSquare; ++i) to[j][i] = from[i][j];
  }
#endif
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_CORE_SIMD_INL_H_
