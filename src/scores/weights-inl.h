// SPDX-License-Identifier: Apache-2.0
//
// Scales and weights in vectors, for one sentence and for sentences side by side, which so have the
// same bits. Included once per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_SCORES_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SCORES_WEIGHTS_INL_H_
#undef TAPROOT_SCORES_WEIGHTS_INL_H_
#else
#define TAPROOT_SCORES_WEIGHTS_INL_H_
#endif

#include <cmath>

#include "core/exp_reduced.h"
#include "core/format.h"
#include "core/ln2.h"
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// The scales of columns, from the largest scores over word heads and the scores of the ROOT edges.
HWY_INLINE V column_scales(V top, V root, bool single) {
  const D d;
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  // Single-root, the score of the ROOT edge counts only for a word that has no other head.
  top = single ? hn::IfThenElse(hn::Eq(top, minus_inf), root, top) : hn::Max(top, root);
  const V rounded = hn::Round(hn::Mul(top, hn::Set(d, kLog2e)));
  return hn::IfThenZeroElse(hn::Eq(top, minus_inf), rounded);
}

// The powers of two by which ROOT edges are larger than the scales of their columns.
HWY_INLINE V root_scales(V root, V scale) {
  return hn::Sub(hn::Round(hn::Mul(root, hn::Set(D(), kLog2e))), scale);
}

// exp_reduced() of core/exp_reduced.h in vectors. Many of these run at the same time, so the
// form with the fewest operations is the fastest, although each step waits for the one before.
template <typename Tag>
HWY_INLINE hn::VFromD<Tag> exp_reduced(Tag d, hn::VFromD<Tag> r) {
  constexpr ExpCoefficients k;
  auto q = hn::Set(d, k.c[0]);
  for (size_t i = 1; i < 10; ++i) q = hn::MulAdd(q, r, hn::Set(d, k.c[i]));
  return hn::Add(hn::Set(d, 1.0), hn::MulAdd(q, hn::Mul(r, r), r));
}

template <typename Tag>
struct ScaledWeights {
  hn::VFromD<Tag> weight;    // 0 unless `kept`.
  hn::VFromD<Tag> integer;   // The score over ln 2, rounded,
  hn::VFromD<Tag> exponent;  // and that less the scale.
  hn::Mask<Tag> kept;        // Whether the exponent is not below kFlushExponent; false for -inf.
};

// exp(s) 2^-scale, for scores within the argument reduction: |s| < kShortRange ln 2.
template <typename Tag>
HWY_INLINE ScaledWeights<Tag> scaled_weights(Tag d, hn::VFromD<Tag> s, hn::VFromD<Tag> scale) {
  const hn::RebindToUnsigned<Tag> du;
  // Adding this number rounds to an integer and leaves the integer in the low bits of the mantissa.
  // Shifted up by 52 bits, it can be added to the exponent field of a double.
  const auto rounder = hn::Set(d, 0x1.8p52);
  ScaledWeights<Tag> w;
  w.integer = hn::Sub(hn::MulAdd(s, hn::Set(d, kLog2e), rounder), rounder);
  w.exponent = hn::Sub(w.integer, scale);
  w.kept = hn::Ge(w.exponent, hn::Set(d, kFlushExponent));
  const auto r = hn::NegMulAdd(w.integer, hn::Set(d, kLn2Rest),
                               hn::NegMulAdd(w.integer, hn::Set(d, kLn2Short), s));
  const auto shift = hn::ShiftLeft<52>(hn::BitCast(du, hn::Add(w.exponent, rounder)));
  const auto whole = hn::BitCast(d, hn::Add(hn::BitCast(du, exp_reduced(d, r)), shift));
  w.weight = hn::IfThenElseZero(w.kept, whole);
  return w;
}

// Raises `flushed` to the exponents of the weights that were not kept.
template <typename Tag>
HWY_INLINE void note_flushed(Tag d, const ScaledWeights<Tag>& w, hn::VFromD<Tag>& flushed) {
  flushed = hn::Max(flushed, hn::IfThenElse(w.kept, hn::Set(d, -HUGE_VAL), w.exponent));
}

// What all flushed weights are below, as a power of two. exp(s) < 2^(k + 1/2 + rounding), so adding
// 1 to the exponent gives a bound.
inline constexpr double kFlushedMargin = 1;

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SCORES_WEIGHTS_INL_H_
