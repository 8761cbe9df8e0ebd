// SPDX-License-Identifier: Apache-2.0
#include "scores/weights.h"

#include <algorithm>
#include <cmath>

#include "core/exp_reduced.h"
#include "core/ln2.h"
#include "scores/wide_weight.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scores/weights.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// exp_reduced() of core/exp_reduced.h in vectors. Many of these run at the same time, so the
// form with the fewest operations is the fastest, although each step waits for the one before.
HWY_INLINE V exp_reduced(V r) {
  const D d;
  constexpr ExpCoefficients k;
  V q = hn::Set(d, k.c[0]);
  for (size_t i = 1; i < 10; ++i) q = hn::MulAdd(q, r, hn::Set(d, k.c[i]));
  return hn::Add(hn::Set(d, 1.0), hn::MulAdd(q, hn::Mul(r, r), r));
}

// exp(s) 2^(e-k), lane by lane, for k too large for the argument reduction of the vector code. The
// caller ignores lanes whose weight is to be stored as 0.
HWY_NOINLINE V far_weights(V s, V k, V e) {
  const D d;
  HWY_ALIGN double score[kLanes];
  HWY_ALIGN double integer[kLanes];
  HWY_ALIGN double exponent[kLanes];
  hn::StoreU(s, d, score);
  hn::StoreU(k, d, integer);
  hn::StoreU(e, d, exponent);
  for (size_t i = 0; i < kLanes; ++i) {
    if (!(exponent[i] >= kFlushExponent)) continue;
    score[i] =
        std::ldexp(std::exp(minus_k_ln2(score[i], integer[i])), static_cast<int>(exponent[i]));
  }
  return hn::LoadU(d, score);
}

// Rows are processed in strips, as in load_scores.cc.
constexpr size_t kStrip = 32;

// Fills columns [j, j + kLanes) of heads [first, last), whose rows begin at `out`. With kFar, some
// scores may be too large for the argument reduction of the vector code.
template <bool kFar>
HWY_INLINE void fill_columns(const ScoreTable& table, size_t j, size_t first, size_t last,
                             double* HWY_RESTRICT out, V& sum, V& flushed) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const V log2e = hn::Set(d, kLog2e);
  const V ln2_short = hn::Set(d, kLn2Short);
  const V ln2_rest = hn::Set(d, kLn2Rest);
  const V flush = hn::Set(d, kFlushExponent);
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  // Adding this number rounds to an integer and leaves the integer in the low bits of the mantissa.
  // Shifted up by 52 bits, it can be added to the exponent field of a double.
  const V rounder = hn::Set(d, 0x1.8p52);
  const V word_scale = hn::LoadU(d, table.scale.data() + j);
  for (size_t head = first; head < last; ++head, out += table.ld) {
    const V scale = head == 0 ? hn::LoadU(d, table.scale.data() + table.ld + j) : word_scale;
    const V s = hn::LoadU(d, table.row(head) + j);
    const V k = hn::Sub(hn::MulAdd(s, log2e, rounder), rounder);
    const V e = hn::Sub(k, scale);
    const auto kept = hn::Ge(e, flush);  // False for -inf.
    const V r = hn::NegMulAdd(k, ln2_rest, hn::NegMulAdd(k, ln2_short, s));
    const auto shift = hn::ShiftLeft<52>(hn::BitCast(du, hn::Add(e, rounder)));
    V weight = hn::BitCast(d, hn::Add(hn::BitCast(du, exp_reduced(r)), shift));
    weight = hn::IfThenElseZero(kept, weight);
    if constexpr (kFar) {
      const auto far = hn::And(kept, hn::Ge(hn::Abs(k), hn::Set(d, kShortRange)));
      if (!hn::AllFalse(d, far)) weight = hn::IfThenElseZero(kept, far_weights(s, k, e));
    }
    hn::StoreU(weight, d, out + j);
    sum = hn::Add(sum, weight);
    flushed = hn::Max(flushed, hn::IfThenElse(kept, minus_inf, e));
  }
}

double fill_rows(const ScoreTable& table, size_t first, size_t last, double* HWY_RESTRICT out,
                 double* HWY_RESTRICT sums) {
  const D d;
  V flushed = hn::Set(d, -HUGE_VAL);
  const bool far = table.furthest_scale - kFlushExponent >= kShortRange;
  for (size_t begin = first; begin < last; begin += kStrip) {
    const size_t end = std::min(begin + kStrip, last);
    for (size_t j = 0; j < table.ld; j += kLanes) {
      double* rows = out + (begin - first) * table.ld;
      V sum = sums == nullptr || begin == first ? hn::Zero(d) : hn::LoadU(d, sums + j);
      if (far) {
        fill_columns<true>(table, j, begin, end, rows, sum, flushed);
      } else {
        fill_columns<false>(table, j, begin, end, rows, sum, flushed);
      }
      if (sums != nullptr) hn::StoreU(sum, d, sums + j);
    }
  }
  // exp(s) < 2^(k + 1/2 + rounding), so adding 1 to the exponent gives a bound.
  return hn::GetLane(hn::MaxOfLanes(d, flushed)) + 1;
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(fill_rows);

double fill_weights(const ScoreTable& table, int first, int last, double* weights, double* sums) {
  return HWY_DYNAMIC_DISPATCH(fill_rows)(table, static_cast<std::size_t>(first),
                                         static_cast<std::size_t>(last), weights, sums);
}

Wide wide_weight(const ScoreTable& table, int head, int modifier) {
  return wide_weight(table.row(head)[modifier], table.scale_of(head, modifier));
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
