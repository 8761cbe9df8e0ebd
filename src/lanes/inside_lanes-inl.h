// SPDX-License-Identifier: Apache-2.0
//
// The inside pass of sentences side by side. Every lane gets the bits that inside() of
// src/projective would give it: each sum runs over the splits away from both ends in their order,
// and then over those at the ends. Included once per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_LANES_INSIDE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_INSIDE_LANES_INL_H_
#undef TAPROOT_LANES_INSIDE_LANES_INL_H_
#else
#define TAPROOT_LANES_INSIDE_LANES_INL_H_
#endif

#include "lanes/chart_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

class LaneInside {
 public:
  explicit LaneInside(const ChartCells& chart)
      : first_(chart.first), n_(chart.n), w_(chart.weights), c_(chart.complete), e_(chart.edges) {}

  // First positions from the last down, two at a time, and in each last positions going up.
  HWY_NOINLINE void run() {
    for (size_t i = first_; i <= n_; ++i) c_.set(i, i, hn::Set(D(), 1.0));
    size_t b = n_;
    if ((n_ - first_) % 2 != 0) span(--b, n_);
    while (b > first_) {
      b -= 1;
      const size_t a = b - 1;
      span(a, b);
      size_t j = b + 1;
      for (; j < n_; j += 2) tile(a, j);
      if (j == n_) {
        span(b, j);
        span(a, j);
      }
      b = a;
    }
  }

 private:
  // The sums over splits k away from the ends: from i + 1 (for kSplit) or i + 2 to j - 2.
  HWY_NOINLINE void span(size_t i, size_t j) const {
    V split = hn::Zero(D());
    V right = hn::Zero(D());
    V left = hn::Zero(D());
    for (size_t k = i + 1; k < j - 1; ++k) {
      split = hn::MulAdd(c_.get(i, k), c_.get(j, k + 1), split);
    }
    for (size_t k = i + 2; k < j - 1; ++k) {
      right = hn::MulAdd(e_.get(i, k), c_.get(k, j), right);
      left = hn::MulAdd(c_.get(k, i), e_.get(j, k), left);
    }
    finish(i, j, split, right, left);
  }

  // The spans from a and a + 1 to j and j + 1. A sum from a has one split more at its beginning,
  // and a sum to j + 1 one more at its end.
  HWY_INLINE void tile(size_t a, size_t j) const {
    const size_t b = a + 1;
    const size_t k = j + 1;
    const V zero = hn::Zero(D());
    Quad split = zero_quad();
    Quad right = zero_quad();
    Quad left = zero_quad();
    if (j > b + 1) {
      const V from_a = c_.get(a, b);
      split.aj = hn::MulAdd(from_a, c_.get(j, b + 1), zero);
      split.ak = hn::MulAdd(from_a, c_.get(k, b + 1), zero);
      for (size_t s = b + 1; s < j - 1; ++s) {
        split.add(c_.get(a, s), c_.get(b, s), c_.get(j, s + 1), c_.get(k, s + 1));
      }
      split.bk = hn::MulAdd(c_.get(b, j - 1), c_.get(k, j), split.bk);
    }
    split.ak = hn::MulAdd(c_.get(a, j - 1), c_.get(k, j), split.ak);
    if (j > b + 2) {
      const V to_right = e_.get(a, b + 1);
      right.aj = hn::MulAdd(to_right, c_.get(b + 1, j), zero);
      right.ak = hn::MulAdd(to_right, c_.get(b + 1, k), zero);
      const V to_left = c_.get(b + 1, a);
      left.aj = hn::MulAdd(to_left, e_.get(j, b + 1), zero);
      left.ak = hn::MulAdd(to_left, e_.get(k, b + 1), zero);
      for (size_t s = b + 2; s < j - 1; ++s) {
        right.add(e_.get(a, s), e_.get(b, s), c_.get(s, j), c_.get(s, k));
        left.add(c_.get(s, a), c_.get(s, b), e_.get(j, s), e_.get(k, s));
      }
      right.bk = hn::MulAdd(e_.get(b, j - 1), c_.get(j - 1, k), right.bk);
      left.bk = hn::MulAdd(c_.get(j - 1, b), e_.get(k, j - 1), left.bk);
    }
    if (j > b + 1) {
      right.ak = hn::MulAdd(e_.get(a, j - 1), c_.get(j - 1, k), right.ak);
      left.ak = hn::MulAdd(c_.get(j - 1, a), e_.get(k, j - 1), left.ak);
    }
    finish(b, j, split.bj, right.bj, left.bj);
    finish(a, j, split.aj, right.aj, left.aj);
    finish(b, k, split.bk, right.bk, left.bk);
    finish(a, k, split.ak, right.ak, left.ak);
  }

  // Adds the splits at the ends, as in finish() of projective/inside.cc.
  HWY_INLINE void finish(size_t i, size_t j, V split, V right, V left) const {
    if (j == i + 1) {
      split = hn::Set(D(), 1.0);
    } else {
      split = hn::Add(hn::Add(split, c_.get(j, i + 1)), c_.get(i, j - 1));
      right = hn::MulAdd(e_.get(i, i + 1), c_.get(i + 1, j), right);
      left = hn::MulAdd(c_.get(i + 1, i), e_.get(j, i + 1), left);
    }
    if (j > i + 2) {
      right = hn::MulAdd(e_.get(i, j - 1), c_.get(j - 1, j), right);
      left = hn::MulAdd(c_.get(j - 1, i), e_.get(j, j - 1), left);
    }
    const V right_edge = hn::Mul(split, w_.get(i, j));
    const V left_edge = hn::Mul(split, w_.get(j, i));
    e_.set(i, j, right_edge);
    e_.set(j, i, left_edge);
    c_.set(i, j, hn::Add(right, right_edge));
    c_.set(j, i, hn::Add(left, left_edge));
  }

  size_t first_;
  size_t n_;
  const Cells w_;
  const Cells c_;
  const Cells e_;
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_INSIDE_LANES_INL_H_
