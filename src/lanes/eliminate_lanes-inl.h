// SPDX-License-Identifier: Apache-2.0
//
// The weights and the elimination of sentences side by side. Included once per target; see
// core/simd-inl.h for the guard.
//
// factor() of src/eliminate adds the effect of a word to all rows before it. Here a row is finished
// before the next one is begun: row m takes up the effects of the words n, n-1, ..., m+1, whose
// shares are known by then. Its numbers stay in registers, and each share is loaded once. Functions
// are not inlined where the constants of one would push the numbers of another out of registers.
#if defined(TAPROOT_LANES_ELIMINATE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_ELIMINATE_LANES_INL_H_
#undef TAPROOT_LANES_ELIMINATE_LANES_INL_H_
#else
#define TAPROOT_LANES_ELIMINATE_LANES_INL_H_
#endif

#include <cmath>
#include <cstddef>

#include "core/exp-inl.h"
#include "lanes/cells-inl.h"
#include "lanes/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

inline constexpr size_t kMostNodes = static_cast<size_t>(kMostLaneWords) + 1;

// One vector for each node.
struct NodeVectors {
  HWY_ALIGN double data[(kMostNodes + kTile) / kTile * kTile * kLanes];

  V get(size_t node) const { return hn::Load(D(), data + node * kLanes); }
  void set(size_t node, V value) { hn::Store(value, D(), data + node * kLanes); }
};

// What ScoreTable says about the scales of a sentence, for all lanes.
struct Scales {
  NodeVectors of_word;
  V root;
  V total;
  V furthest;
};

// Chooses the scales as load_scores() does. `ordinary` is 0 in lanes that have a score which is
// forbidden or bad.
HWY_NOINLINE void choose_scales(const Cells& scores, size_t n, bool single, Scales& scales,
                                V& ordinary) {
  const D d;
  const V minus_inf = hn::Set(d, -HUGE_VAL);
  const V limit = hn::Set(d, kMaxScore);
  const V log2e = hn::Set(d, kLog2e);
  auto usual = hn::Eq(minus_inf, minus_inf);
  V root_top = minus_inf;
  scales.total = hn::Zero(d);
  scales.furthest = hn::Zero(d);
  for (size_t m = 1; m <= n; ++m) {
    V top = minus_inf;
    const auto look = [&](size_t first, size_t last) HWY_ATTR {
      for (size_t h = first; h < last; ++h) {
        const V s = scores.get(m, h);
        top = hn::Max(top, s);
        usual = hn::And(usual, hn::Le(hn::Abs(s), limit));
      }
    };
    look(1, m);
    look(m + 1, n + 1);
    const V root = scores.get(m, 0);
    usual = hn::And(usual, hn::Le(hn::Abs(root), limit));
    // Single-root, the score of the ROOT edge counts only for a word that has no other head.
    top = single ? hn::IfThenElse(hn::Eq(top, minus_inf), root, top) : hn::Max(top, root);
    const V rounded = hn::Round(hn::Mul(top, log2e));
    const V chosen = hn::IfThenZeroElse(hn::Eq(top, minus_inf), rounded);
    scales.of_word.set(m, chosen);
    scales.total = hn::Add(scales.total, chosen);
    scales.furthest = hn::Max(scales.furthest, hn::Abs(chosen));
    root_top = hn::Max(root_top, hn::Sub(hn::Round(hn::Mul(root, log2e)), chosen));
  }
  scales.root = hn::Zero(d);
  if (single) scales.root = hn::IfThenZeroElse(hn::Eq(root_top, minus_inf), root_top);
  scales.total = hn::Add(scales.total, scales.root);
  scales.furthest = hn::Add(scales.furthest, hn::Abs(scales.root));
  ordinary = hn::IfThenElseZero(usual, hn::Set(d, 1.0));
}

// 1 in the lanes all of whose scores are finite and within the limits, or -inf.
HWY_NOINLINE V lanes_without_bad_scores(const Cells& scores, size_t n) {
  const D d;
  const V limit = hn::Set(d, kMaxScore);
  auto good = hn::Eq(limit, limit);
  for (size_t m = 1; m <= n; ++m) {
    for (size_t h = 0; h <= n; ++h) {
      const V s = scores.get(m, h);
      const auto forbidden = hn::Eq(s, hn::Set(d, -HUGE_VAL));
      good = hn::And(good, hn::Or(forbidden, hn::Le(hn::Abs(s), limit)));
    }
  }
  return hn::IfThenElseZero(good, hn::Set(d, 1.0));
}

// Lane by lane: Z of the scaled weights is product * last, where `last` is the pivot of the first
// word; the upper bound of Z that arrange() describes; and the largest exponent of a weight that
// was stored as 0.
struct LaneSums {
  V product;
  V last;
  V bound;
  V flushed;
};

template <bool kKeep>
class LaneElimination {
 public:
  // Without kKeep, the shares overwrite the weights, and rows are not kept.
  LaneElimination(const Cells& weights, const Cells& rows, size_t n, bool single)
      : weights_(weights), rows_(rows), n_(n), single_(single) {}

  // Turns scores into weights and eliminates the words n, n-1, ..., 2. With kKeep, rows(m, h) is
  // then the share A[h][m] / pivot of m for h < m, and A[h][m] when h was eliminated for h > m.
  // inverse[m] is one over the pivot of m.
  HWY_INLINE LaneSums run(const Scales& scales, NodeVectors& inverse) {
    const D d;
    const V one = hn::Set(d, 1.0);
    sums_ = {one, one, one, hn::Set(d, -HUGE_VAL)};
    root_sum_ = hn::Zero(d);
    for (size_t m = n_; m > 0; --m) {
      fill_weights(m, scales);
      finish_row(m);
      const V pivot = m == 1 ? row_.get(0) : sum_of_heads(m);
      const V inverse_pivot = hn::Div(one, pivot);
      inverse.set(m, inverse_pivot);
      for (size_t h = 0; h < m; ++h) rows_.set(m, h, hn::Mul(row_.get(h), inverse_pivot));
      if (m > 1) sums_.product = hn::Mul(sums_.product, pivot);
      sums_.last = pivot;
    }
    if (single_) sums_.bound = hn::Mul(sums_.bound, root_sum_);
    return sums_;
  }

 private:
  HWY_NOINLINE void fill_weights(size_t m, const Scales& scales) {
    const D d;
    const V scale = scales.of_word.get(m);
    const ScaledExp root = scaled_exp(weights_.get(m, 0), hn::Add(scale, scales.root));
    weights_.set(m, 0, root.weight);
    V flushed = raise_flushed(sums_.flushed, root);
    V total = single_ ? hn::Zero(d) : root.weight;
    for (size_t h = 1; h <= n_; ++h) {
      const ScaledExp exp = scaled_exp(weights_.get(m, h), scale);
      weights_.set(m, h, exp.weight);
      total = hn::Add(total, exp.weight);
      flushed = raise_flushed(flushed, exp);
    }
    sums_.flushed = flushed;
    // No more than 33 weights below 1.6 each: the product of 33 such sums does not overflow.
    sums_.bound = hn::Mul(sums_.bound, hn::Max(total, hn::Set(d, 1.0)));
    root_sum_ = hn::Add(root_sum_, root.weight);
  }

  // row_[h] = A[h][m] when h (or, for h < m, when m) is eliminated.
  HWY_NOINLINE void finish_row(size_t m) {
    const D d;
    for (size_t tile = n_ / kTile * kTile + kTile; tile > 0;) {
      tile -= kTile;
      V a[kTile];
      for (size_t i = 0; i < kTile; ++i) a[i] = weights_.get(m, tile + i);
      for (size_t k = n_; k >= std::max(tile + kTile, m + 1); --k) {
        const V weight = row_.get(k);
        const double* shares = rows_.at(k, tile);
        for (size_t i = 0; i < kTile; ++i) {
          a[i] = hn::MulAdd(weight, hn::Load(d, shares + i * kLanes), a[i]);
        }
      }
      if (tile + kTile > m + 1) finish_tile<kTile - 1>(m, tile, a);
      for (size_t i = 0; i < kTile; ++i) row_.set(tile + i, a[i]);
      if constexpr (kKeep) {
        if (tile + kTile > m + 1) {
          for (size_t i = 0; i < kTile; ++i) {
            if (tile + i > m) rows_.set(m, tile + i, a[i]);
          }
        }
      }
    }
  }

  // The effects of the words of a tile on those before them in it.
  template <size_t kWord>
  HWY_INLINE void finish_tile(size_t m, size_t tile, V* a) {
    if constexpr (kWord > 0) {
      const size_t k = tile + kWord;
      if (k > m && k <= n_) {
        const double* shares = rows_.at(k, tile);
        for (size_t i = 0; i < kWord; ++i) {
          a[i] = hn::MulAdd(a[kWord], hn::Load(D(), shares + i * kLanes), a[i]);
        }
      }
      finish_tile<kWord - 1>(m, tile, a);
    }
  }

  // In four sums, which halves the bound on the error, and the time.
  HWY_INLINE V sum_of_heads(size_t m) const {
    V sum[4];
    for (V& s : sum) s = hn::Zero(D());
    size_t h = single_ ? 1 : 0;
    for (; h + 4 <= m; h += 4) {
      for (size_t i = 0; i < 4; ++i) sum[i] = hn::Add(sum[i], row_.get(h + i));
    }
    for (; h < m; ++h) sum[0] = hn::Add(sum[0], row_.get(h));
    return hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  }

  const Cells weights_;
  const Cells rows_;
  size_t n_;
  bool single_;
  LaneSums sums_;
  V root_sum_;
  NodeVectors row_;
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_ELIMINATE_LANES_INL_H_
