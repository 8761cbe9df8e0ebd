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
#include "scores/weights-inl.h"

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

// Fills columns [j, j + lanes of the tag) of heads [first, last), whose rows begin at `out`. With
// kFar, some scores may be too large for the argument reduction of the vector code.
template <bool kFar, typename Tag>
HWY_INLINE void fill_columns(Tag d, const ScoreTable& table, size_t j, size_t first, size_t last,
                             double* HWY_RESTRICT out, hn::VFromD<Tag>& sum,
                             hn::VFromD<Tag>& flushed) {
  using Vector = hn::VFromD<Tag>;
  const Vector word_scale = hn::LoadU(d, table.scale.data() + j);
  for (size_t head = first; head < last; ++head, out += table.ld) {
    const Vector scale = head == 0 ? hn::LoadU(d, table.scale.data() + table.ld + j) : word_scale;
    const Vector s = hn::LoadU(d, table.row(head) + j);
    ScaledWeights<Tag> found = scaled_weights(d, s, scale);
    if constexpr (kFar) {
      const auto far = hn::And(found.kept, hn::Ge(hn::Abs(found.integer), hn::Set(d, kShortRange)));
      if (!hn::AllFalse(d, far)) {
        const V weight = far_weights(s, found.integer, found.exponent);
        found.weight = hn::IfThenElseZero(found.kept, weight);
      }
    }
    hn::StoreU(found.weight, d, out + j);
    sum = hn::Add(sum, found.weight);
    note_flushed(d, found, flushed);
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
  return std::max(hn::GetLane(hn::MaxOfLanes(d, flushed)),
                  hn::GetLane(hn::MaxOfLanes(half, half_flushed))) +
         kFlushedMargin;
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
