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
template <typename Tag>
HWY_INLINE hn::VFromD<Tag> exp_reduced(Tag d, hn::VFromD<Tag> r) {
  constexpr ExpCoefficients k;
  auto q = hn::Set(d, k.c[0]);
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

// Fills columns [j, j + lanes of the tag) of heads [first, last), whose rows begin at `out`. With
// kFar, some scores may be too large for the argument reduction of the vector code.
template <bool kFar, typename Tag>
HWY_INLINE void fill_columns(Tag d, const ScoreTable& table, size_t j, size_t first, size_t last,
                             double* HWY_RESTRICT out, hn::VFromD<Tag>& sum,
                             hn::VFromD<Tag>& flushed) {
  using Vector = hn::VFromD<Tag>;
  const hn::RebindToUnsigned<Tag> du;
  const Vector log2e = hn::Set(d, kLog2e);
  const Vector ln2_short = hn::Set(d, kLn2Short);
  const Vector ln2_rest = hn::Set(d, kLn2Rest);
  const Vector flush = hn::Set(d, kFlushExponent);
  const Vector minus_inf = hn::Set(d, -HUGE_VAL);
  // Adding this number rounds to an integer and leaves the integer in the low bits of the mantissa.
  // Shifted up by 52 bits, it can be added to the exponent field of a double.
  const Vector rounder = hn::Set(d, 0x1.8p52);
  const Vector word_scale = hn::LoadU(d, table.scale.data() + j);
  for (size_t head = first; head < last; ++head, out += table.ld) {
    const Vector scale = head == 0 ? hn::LoadU(d, table.scale.data() + table.ld + j) : word_scale;
    const Vector s = hn::LoadU(d, table.row(head) + j);
    const Vector k = hn::Sub(hn::MulAdd(s, log2e, rounder), rounder);
    const Vector e = hn::Sub(k, scale);
    const auto kept = hn::Ge(e, flush);  // False for -inf.
    const Vector r = hn::NegMulAdd(k, ln2_rest, hn::NegMulAdd(k, ln2_short, s));
    const auto shift = hn::ShiftLeft<52>(hn::BitCast(du, hn::Add(e, rounder)));
    Vector weight = hn::BitCast(d, hn::Add(hn::BitCast(du, exp_reduced(d, r)), shift));
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
  const hn::Half<D> half;
  constexpr size_t kHalf = hn::MaxLanes(half);
  V flushed = hn::Set(d, -HUGE_VAL);
  auto half_flushed = hn::Set(half, -HUGE_VAL);
  const size_t columns = table.nodes();
  const bool far = table.furthest_scale - kFlushExponent >= kShortRange;
  for (size_t begin = first; begin < last; begin += kStrip) {
    const size_t end = std::min(begin + kStrip, last);
    double* rows = out + (begin - first) * table.ld;
    const auto sum_so_far = [&](auto tag, size_t j) HWY_ATTR {
      return sums == nullptr || begin == first ? hn::Zero(tag) : hn::LoadU(tag, sums + j);
    };
    for (size_t j = 0; j < table.ld; j += kLanes) {
      V sum = sum_so_far(d, j);
      if (far) {
        fill_columns<true>(d, table, j, begin, end, rows, sum, flushed);
      } else if (kHalf < kLanes && j + kHalf >= columns) {
        // The rest of a row fits into half a vector, and the other half is 0.
        auto half_sum = sum_so_far(half, j);
        if (j < columns) {
          fill_columns<false>(half, table, j, begin, end, rows, half_sum, half_flushed);
        }
        for (size_t head = begin; head < end; ++head) {
          double* rest = rows + (head - begin) * table.ld + j;
          if (j >= columns) hn::StoreU(hn::Zero(half), half, rest);
          hn::StoreU(hn::Zero(half), half, rest + kHalf);
        }
        if (sums != nullptr) {
          hn::StoreU(half_sum, half, sums + j);
          hn::StoreU(hn::Zero(half), half, sums + j + kHalf);
        }
        continue;
      } else {
        fill_columns<false>(d, table, j, begin, end, rows, sum, flushed);
      }
      if (sums != nullptr) hn::StoreU(sum, d, sums + j);
    }
  }
  // exp(s) < 2^(k + 1/2 + rounding), so adding 1 to the exponent gives a bound.
  return std::max(hn::GetLane(hn::MaxOfLanes(d, flushed)),
                  hn::GetLane(hn::MaxOfLanes(half, half_flushed))) +
         1;
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
