// SPDX-License-Identifier: Apache-2.0
//
// Weights, exp(score) times a power of two, in vectors. Included once per target; see simd-inl.h
// for the guard.
#if defined(TAPROOT_CORE_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_CORE_EXP_INL_H_
#undef TAPROOT_CORE_EXP_INL_H_
#else
#define TAPROOT_CORE_EXP_INL_H_
#endif

#include <cmath>
#include <cstddef>

#include "core/exp_reduced.h"
#include "core/format.h"
#include "core/ln2.h"
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// exp_reduced() of core/exp_reduced.h in vectors. Many of these run at the same time, so the
// form with the fewest operations is the fastest, although each step waits for the one before.
HWY_INLINE V exp_reduced(V r) {
  const D d;
  constexpr ExpCoefficients k;
  V q = hn::Set(d, k.c[0]);
  for (size_t i = 1; i < 10; ++i) q = hn::MulAdd(q, r, hn::Set(d, k.c[i]));
  return hn::Add(hn::Set(d, 1.0), hn::MulAdd(q, hn::Mul(r, r), r));
}

// exp(score) 2^-scale = weight, with its parts: exp(score) is near 2^k, and the weight near
// 2^exponent. The weight is right where |k| < kShortRange, and 0 where `kept` is false.
struct ScaledExp {
  V weight;
  V k;
  V exponent;
  hn::Mask<D> kept;  ///< exponent >= kFlushExponent. False for the score -inf.
};

HWY_INLINE ScaledExp scaled_exp(V score, V scale) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  // Adding this number rounds to an integer and leaves the integer in the low bits of the mantissa.
  // Shifted up by 52 bits, it can be added to the exponent field of a double.
  const V rounder = hn::Set(d, 0x1.8p52);
  const V k = hn::Sub(hn::MulAdd(score, hn::Set(d, kLog2e), rounder), rounder);
  const V e = hn::Sub(k, scale);
  const auto kept = hn::Ge(e, hn::Set(d, kFlushExponent));
  const V r =
      hn::NegMulAdd(k, hn::Set(d, kLn2Rest), hn::NegMulAdd(k, hn::Set(d, kLn2Short), score));
  const auto shift = hn::ShiftLeft<52>(hn::BitCast(du, hn::Add(e, rounder)));
  const V weight = hn::BitCast(d, hn::Add(hn::BitCast(du, exp_reduced(r)), shift));
  return {hn::IfThenElseZero(kept, weight), k, e, kept};
}

// Raises `flushed` to the exponents of the weights that are stored as 0. exp(score) is less than
// 2^(k + 1/2 + rounding), so a caller adds 1 to the largest exponent for a bound.
HWY_INLINE V raise_flushed(V flushed, const ScaledExp& exp) {
  return hn::Max(flushed, hn::IfThenElse(exp.kept, hn::Set(D(), -HUGE_VAL), exp.exponent));
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_CORE_EXP_INL_H_
