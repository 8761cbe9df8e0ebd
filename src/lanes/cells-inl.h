// SPDX-License-Identifier: Apache-2.0
//
// Matrices of several sentences with their numbers side by side: reading scores into them, and
// writing marginals out of them. Included once per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_LANES_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_CELLS_INL_H_
#undef TAPROOT_LANES_CELLS_INL_H_
#else
#define TAPROOT_LANES_CELLS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/simd-inl.h"
#include "taproot/scores.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Elimination sums over the heads of a word in tiles of this many.
inline constexpr size_t kTile = 8;

// A square of cells. Cell (m, h) is a vector with the number of edge h -> m in every sentence.
struct Cells {
  double* data;
  size_t ld;  // In cells. Odd, so that the cells of a column do not share a set of the cache.

  // Enough for whole tiles.
  static size_t leading_dimension(size_t n) { return (n + kTile) / kTile * kTile + 1; }
  // Squares of kLanes rows are read and written whole, row 0 included.
  static size_t size(size_t n) { return std::max(n + 1, kLanes) * leading_dimension(n) * kLanes; }

  double* at(size_t m, size_t h) const { return data + (m * ld + h) * kLanes; }
  V get(size_t m, size_t h) const { return hn::Load(D(), at(m, h)); }
  void set(size_t m, size_t h, V value) const { hn::Store(value, D(), at(m, h)); }
};

// Lane j of v[i] becomes lane i of v[j].
HWY_INLINE void transpose_lanes(V* v) {
#if HWY_MAX_BYTES >= 64
  const D d;
  V pairs[8];  // Elements exchanged within blocks of 128 bits, then blocks, then halves.
  for (size_t i = 0; i < 8; i += 2) {
    pairs[i] = hn::InterleaveLower(d, v[i], v[i + 1]);
    pairs[i + 1] = hn::InterleaveUpper(d, v[i], v[i + 1]);
  }
  V fours[8];
  for (size_t i = 0; i < 8; i += 4) {
    for (size_t odd = 0; odd < 2; ++odd) {
      const V a = pairs[i + odd];
      const V b = pairs[i + 2 + odd];
      fours[i + odd] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
      fours[i + 2 + odd] = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
    }
  }
  for (size_t i = 0; i < 4; ++i) {
    v[i] = hn::ConcatLowerLower(d, fours[i + 4], fours[i]);
    v[i + 4] = hn::ConcatUpperUpper(d, fours[i + 4], fours[i]);
  }
#elif HWY_MAX_BYTES >= 32
  const D d;
  const V ab_even = hn::InterleaveLower(d, v[0], v[1]);
  const V ab_odd = hn::InterleaveUpper(d, v[0], v[1]);
  const V ce_even = hn::InterleaveLower(d, v[2], v[3]);
  const V ce_odd = hn::InterleaveUpper(d, v[2], v[3]);
  v[0] = hn::ConcatLowerLower(d, ce_even, ab_even);
  v[1] = hn::ConcatLowerLower(d, ce_odd, ab_odd);
  v[2] = hn::ConcatUpperUpper(d, ce_even, ab_even);
  v[3] = hn::ConcatUpperUpper(d, ce_odd, ab_odd);
#elif HWY_MAX_BYTES >= 16
  const D d;
  const V even = hn::InterleaveLower(d, v[0], v[1]);
  v[1] = hn::InterleaveUpper(d, v[0], v[1]);
  v[0] = even;
#else
  static_cast<void>(v);  // A single lane.
#endif
}

// The columns at which the squares of kLanes columns start that cover columns 0..n of a row. The
// last square overlaps the one before it, so that it reaches no further than it must.
HWY_INLINE size_t square_start(size_t j, size_t n) {
  return n + 1 >= kLanes ? std::min(j, n + 1 - kLanes) : 0;
}

// Columns [j, j + kLanes) of a head's row of scores. A sentence shorter than n is filled up with
// words that change nothing: the first word is their only head, with weight 1, and they are
// nobody's.
HWY_INLINE V load_row(const ScoreView& view, size_t head, size_t j) {
  const D d;
  const auto n = static_cast<size_t>(view.n());
  const V padding = hn::Set(d, head == 1 ? 0.0 : -HUGE_VAL);
  if (head > n || j > n) return padding;
  const size_t present = n + 1 - j;
  const std::ptrdiff_t stride = view.modifier_stride();
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(head) * view.head_stride() +
                            static_cast<std::ptrdiff_t>(j) * stride;
  const double* wide = view.double_data();
  if (stride == 1 && wide != nullptr) {
    if (present >= kLanes) return hn::LoadU(d, wide + at);
    return hn::IfThenElse(hn::FirstN(d, present), load_partial(wide + at, present), padding);
  }
  const float* narrow = view.float_data();
  if (stride == 1 && present >= kLanes) {
    const hn::Rebind<float, D> df;
    return hn::PromoteTo(d, hn::LoadU(df, narrow + at));
  }
  HWY_ALIGN double lanes[kLanes];
  hn::Store(padding, d, lanes);
  for (size_t i = 0; i < std::min(present, kLanes); ++i) {
    const std::ptrdiff_t cell = at + static_cast<std::ptrdiff_t>(i) * stride;
    lanes[i] = wide != nullptr ? wide[cell] : double{narrow[cell]};
  }
  return hn::Load(d, lanes);
}

// Cell (m, h) = score of h -> m in views[lane], for m = 1..n and h = 0..n. With kPlain, all of them
// are contiguous doubles of n words.
template <bool kPlain>
HWY_NOINLINE void read_rows(const ScoreView* const* views, size_t n, const Cells& scores) {
  const D d;
  for (size_t head = 0; head <= n; ++head) {
    const double* rows[kLanes];
    for (size_t lane = 0; kPlain && lane < kLanes; ++lane) {
      rows[lane] = views[lane]->double_data() +
                   static_cast<std::ptrdiff_t>(head) * views[lane]->head_stride();
    }
    for (size_t j = 0; j <= n; j += kLanes) {
      const size_t start = square_start(j, n);
      V square[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        if constexpr (kPlain) {
          square[lane] = hn::LoadU(d, rows[lane] + start);
        } else {
          square[lane] = load_row(*views[lane], head, start);
        }
      }
      transpose_lanes(square);
      double* to = scores.at(start, head);
      for (size_t i = 0; i < kLanes; ++i) hn::Store(square[i], d, to + i * scores.ld * kLanes);
    }
  }
}

// The same for any views. The diagonal is -inf.
HWY_INLINE void read_scores(const ScoreView* const* views, size_t n, const Cells& scores) {
  bool plain = n + 1 >= kLanes;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    plain &= static_cast<size_t>(views[lane]->n()) == n && views[lane]->modifier_stride() == 1 &&
             views[lane]->double_data() != nullptr;
  }
  plain ? read_rows<true>(views, n, scores) : read_rows<false>(views, n, scores);
  for (size_t m = 1; m <= n; ++m) scores.set(m, m, hn::Set(D(), -HUGE_VAL));
}

// out[lane][h][m] = max(0, weights(m, h) gradient(m, h)) for the lanes whose out is not null, as
// far as their sentences reach. Column 0 and the diagonal are 0.
HWY_NOINLINE void write_marginals(const Cells& weights, const Cells& gradient, size_t n,
                                  const size_t* lengths, const EdgeMatrix* out) {
  const D d;
  for (size_t head = 0; head <= n; ++head) {
    for (size_t j = 0; j <= n; j += kLanes) {
      const size_t start = square_start(j, n);
      const double* w = weights.at(start, head);
      const double* g = gradient.at(start, head);
      V square[kLanes];
      for (size_t i = 0; i < kLanes; ++i) {
        const size_t at = i * weights.ld * kLanes;
        const V p = hn::Mul(hn::Load(d, w + at), hn::Load(d, g + at));
        square[i] = hn::IfThenZeroElse(hn::Lt(p, hn::Zero(d)), p);
      }
      if (start == 0) square[0] = hn::Zero(d);
      transpose_lanes(square);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const size_t columns = lengths[lane] + 1;
        if (out[lane].data == nullptr || head >= columns || start >= columns) continue;
        double* to =
            out[lane].data + static_cast<std::ptrdiff_t>(head) * out[lane].head_stride + start;
        if (start + kLanes <= columns) {
          hn::StoreU(square[lane], d, to);
        } else {
          HWY_ALIGN double some[kLanes];
          hn::Store(square[lane], d, some);
          std::copy_n(some, columns - start, to);
        }
      }
    }
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_CELLS_INL_H_
