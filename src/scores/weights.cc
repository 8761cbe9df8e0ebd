// SPDX-License-Identifier: Apache-2.0
#include "scores/weights.h"

#include <algorithm>
#include <cmath>

#include "scores/ln2.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scores/weights.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// For the rare weights that lie beyond the vector code's argument reduction.
HWY_NOINLINE double scalar_weight(double score, double scale) {
  const double k = std::nearbyint(score * kLog2e);
  if (!(k - scale >= kFlushExponent)) return 0.0;
  return std::ldexp(std::exp(minus_k_ln2(score, k)), static_cast<int>(k - scale));
}

// exp on [-ln2/2, ln2/2]: 1 + r + r^2 q(r), q of degree 9 interpolating at Chebyshev points,
// relative error 1.6e-17 before rounding.
HWY_INLINE V exp_reduced(V r) {
  const D d;
  const V r2 = hn::Mul(r, r);
  const V r4 = hn::Mul(r2, r2);
  const V q01 = hn::MulAdd(hn::Set(d, 0x1.5555555555556p-3), r, hn::Set(d, 0x1.0000000000001p-1));
  const V q23 = hn::MulAdd(hn::Set(d, 0x1.11111111109b3p-7), r, hn::Set(d, 0x1.5555555553d63p-5));
  const V q45 = hn::MulAdd(hn::Set(d, 0x1.a01a01a7c41d5p-13), r, hn::Set(d, 0x1.6c16c1788bd90p-10));
  const V q67 = hn::MulAdd(hn::Set(d, 0x1.71de0dae63bb3p-19), r, hn::Set(d, 0x1.a019b90d2ae7ap-16));
  const V q89 = hn::MulAdd(hn::Set(d, 0x1.af38a9b0ec855p-26), r, hn::Set(d, 0x1.289185613a3d6p-22));
  const V q03 = hn::MulAdd(q23, r2, q01);
  const V q47 = hn::MulAdd(q67, r2, q45);
  const V q49 = hn::MulAdd(q89, r4, q47);
  const V q = hn::MulAdd(q49, r4, q03);
  return hn::Add(hn::Set(d, 1.0), hn::MulAdd(q, r2, r));
}

// Rows are taken in strips, as in load_scores.cc.
inline constexpr size_t kStrip = 32;

// Columns [j, j + kLanes) of heads [first, last); out is the first of their rows. With kFar some
// scales are beyond the argument reduction.
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
  // Adding this puts a small integer plus 1023 into the low bits of the mantissa: shifted up, they
  // are the exponent field of a power of two.
  const V exponent_bias = hn::Set(d, 0x1.8p52 + 1023);
  const V word_scale = hn::LoadU(d, table.scale.data() + j);
  for (size_t head = first; head < last; ++head, out += table.ld) {
    const V scale = head == 0 ? hn::LoadU(d, table.scale.data() + table.ld + j) : word_scale;
    const V s = hn::LoadU(d, table.row(static_cast<int>(head)) + j);
    const V k = hn::Round(hn::Mul(s, log2e));
    const V e = hn::Sub(k, scale);
    const auto kept = hn::Ge(e, flush);  // False for -inf.
    const V r = hn::NegMulAdd(k, ln2_rest, hn::NegMulAdd(k, ln2_short, s));
    const V power =
        hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(du, hn::Add(e, exponent_bias))));
    V weight = hn::IfThenElseZero(kept, hn::Mul(exp_reduced(r), power));
    if constexpr (kFar) {
      const auto far = hn::And(kept, hn::Ge(hn::Abs(k), hn::Set(d, kShortRange)));
      if (!hn::AllFalse(d, far)) {
        HWY_ALIGN double lanes[kLanes];
        for (size_t i = 0; i < kLanes; ++i) {
          lanes[i] = scalar_weight(table.row(static_cast<int>(head))[j + i],
                                   table.scale[(head == 0 ? table.ld : 0) + j + i]);
        }
        weight = hn::LoadU(d, lanes);
      }
    }
    hn::StoreU(weight, d, out + j);
    sum = hn::Add(sum, weight);
    flushed = hn::Max(flushed, hn::IfThenElse(kept, minus_inf, e));
  }
}

double weights(const ScoreTable& table, size_t first, size_t last, double* HWY_RESTRICT out,
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
  // exp(s) < 2^(k + 1/2 + rounding), so one more is on the safe side.
  return hn::GetLane(hn::MaxOfLanes(d, flushed)) + 1;
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(weights);

double fill_weights(const ScoreTable& table, int first, int last, double* weights_out,
                    double* sums) {
  return HWY_DYNAMIC_DISPATCH(weights)(table, static_cast<std::size_t>(first),
                                       static_cast<std::size_t>(last), weights_out, sums);
}

Wide wide_weight(const ScoreTable& table, int head, int modifier) {
  const double score = table.row(head)[modifier];
  if (score == -HUGE_VAL) return 0.0;
  const double k = std::nearbyint(score * kLog2e);
  const double scale =
      table.scale[(head == 0 ? table.ld : 0) + static_cast<std::size_t>(modifier)];
  return {std::exp(minus_k_ln2(score, k)), static_cast<std::int64_t>(k - scale)};
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
