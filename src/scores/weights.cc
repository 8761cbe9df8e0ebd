// SPDX-License-Identifier: Apache-2.0
#include "scores/weights.h"

#include <algorithm>
#include <cmath>

#include "core/ln2.h"
#include "scores/wide_weight.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scores/weights.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

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
  const V word_scale = hn::LoadU(d, table.scale.data() + j);
  for (size_t head = first; head < last; ++head, out += table.ld) {
    const V scale = head == 0 ? hn::LoadU(d, table.scale.data() + table.ld + j) : word_scale;
    const V s = hn::LoadU(d, table.row(head) + j);
    const ScaledExp exp = scaled_exp(s, scale);
    V weight = exp.weight;
    if constexpr (kFar) {
      const auto far = hn::And(exp.kept, hn::Ge(hn::Abs(exp.k), hn::Set(d, kShortRange)));
      if (!hn::AllFalse(d, far)) {
        weight = hn::IfThenElseZero(exp.kept, far_weights(s, exp.k, exp.exponent));
      }
    }
    hn::StoreU(weight, d, out + j);
    sum = hn::Add(sum, weight);
    flushed = raise_flushed(flushed, exp);
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
