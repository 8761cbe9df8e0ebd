// SPDX-License-Identifier: Apache-2.0
//
// The outside pass of sentences side by side. Every lane gets the bits that outside() of
// src/projective would give it: all sums run from the longest spans to the shortest. Included once
// per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_LANES_OUTSIDE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_OUTSIDE_LANES_INL_H_
#undef TAPROOT_LANES_OUTSIDE_LANES_INL_H_
#else
#define TAPROOT_LANES_OUTSIDE_LANES_INL_H_
#endif

#include "lanes/chart_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// The derivatives of log Z that come from Z itself, by node: of the kRight spans from a node to the
// last one, and of the kLeft spans from the first node to a node. Sentences end at different nodes.
struct LaneSeeds {
  NodeVectors right;
  NodeVectors left;
  V last;           // The last node of each sentence.
  size_t shortest;  // The first of these.
};

HWY_INLINE V at_most_one(V p) {
  const V one = hn::Set(D(), 1.0);
  return hn::IfThenElse(hn::Gt(p, one), one, p);
}

class LaneOutside {
 public:
  // `complete` and `split` receive derivatives with respect to kRight and kLeft, and to kSplit.
  LaneOutside(const ChartCells& chart, const LaneSeeds& seeds, const Cells& complete,
              const Cells& split)
      : first_(chart.first),
        n_(chart.n),
        w_(chart.weights),
        c_(chart.complete),
        e_(chart.edges),
        seeds_(seeds),
        o_(complete),
        s_(split) {}

  // Replaces the weights between positions by marginals. First positions going up, two at a time,
  // and in each last positions from the last down.
  HWY_NOINLINE void run() {
    size_t a = first_;
    for (; a + 1 < n_; a += 2) {
      const size_t b = a + 1;
      size_t k = n_;
      for (; k > b + 1; k -= 2) tile(a, k - 1);
      if (k == b + 1) {
        span(a, k);
        span(b, k);
      }
      span(a, b);
    }
    if (a < n_) span(a, n_);
  }

 private:
  // Parts of the derivatives of a span with respect to kRight and kLeft, and to kRightEdge or
  // kLeftEdge: from longer spans with the same first position, or with the same last one.
  struct Parts {
    V right;
    V left;
    V edge;
  };

  HWY_INLINE V right_seed(size_t i, size_t j) const {
    if (j < seeds_.shortest) return hn::Zero(D());
    const auto ends = hn::Eq(seeds_.last, hn::Set(D(), static_cast<double>(j)));
    return hn::IfThenElseZero(ends, seeds_.right.get(i));
  }
  HWY_INLINE V left_seed(size_t i, size_t j) const {
    return i == first_ ? seeds_.left.get(j) : hn::Zero(D());
  }

  HWY_NOINLINE void span(size_t i, size_t j) const {
    const V zero = hn::Zero(D());
    Parts first{right_seed(i, j), zero, zero};
    Parts last{zero, left_seed(i, j), zero};
    for (size_t u = n_; u > j; --u) add_same_first(i, j, u, first);
    for (size_t u = first_; u < i; ++u) add_same_last(i, j, u, last);
    finish(i, j, first, last);
  }

  // The spans from a and a + 1 to j and j + 1.
  HWY_INLINE void tile(size_t a, size_t j) const {
    const size_t b = a + 1;
    const size_t k = j + 1;
    Quad right = zero_quad();
    Quad left = zero_quad();
    Quad edge = zero_quad();
    right.aj = right_seed(a, j);
    right.ak = right_seed(a, k);
    right.bj = right_seed(b, j);
    right.bk = right_seed(b, k);
    for (size_t u = n_; u > k; --u) {
      right.add(s_.get(a, u), s_.get(b, u), c_.get(u, k), c_.get(u, k + 1));
      left.add(o_.get(u, a), o_.get(u, b), e_.get(u, j), e_.get(u, k));
      edge.add(o_.get(a, u), o_.get(b, u), c_.get(j, u), c_.get(k, u));
    }
    Parts aj_first{right.aj, left.aj, edge.aj};
    const Parts ak_first{right.ak, left.ak, edge.ak};
    Parts bj_first{right.bj, left.bj, edge.bj};
    const Parts bk_first{right.bk, left.bk, edge.bk};
    right = left = edge = zero_quad();
    left.aj = left_seed(a, j);
    left.ak = left_seed(a, k);
    for (size_t u = first_; u < a; ++u) {
      right.add(e_.get(u, a), e_.get(u, b), o_.get(u, j), o_.get(u, k));
      left.add(c_.get(u, a - 1), c_.get(u, a), s_.get(u, j), s_.get(u, k));
      edge.add(c_.get(a, u), c_.get(b, u), o_.get(j, u), o_.get(k, u));
    }
    Parts bj_last{right.bj, left.bj, edge.bj};
    Parts bk_last{right.bk, left.bk, edge.bk};
    finish(a, k, ak_first, {right.ak, left.ak, edge.ak});
    add_same_first(a, j, k, aj_first);
    finish(a, j, aj_first, {right.aj, left.aj, edge.aj});
    add_same_last(b, k, a, bk_last);
    finish(b, k, bk_first, bk_last);
    add_same_first(b, j, k, bj_first);
    add_same_last(b, j, a, bj_last);
    finish(b, j, bj_first, bj_last);
  }

  // Adds the span i..u, u > j, to the sums of the span i..j.
  HWY_INLINE void add_same_first(size_t i, size_t j, size_t u, Parts& sums) const {
    sums.right = hn::MulAdd(s_.get(i, u), c_.get(u, j + 1), sums.right);
    sums.left = hn::MulAdd(o_.get(u, i), e_.get(u, j), sums.left);
    sums.edge = hn::MulAdd(o_.get(i, u), c_.get(j, u), sums.edge);
  }
  // The same for the span u..j, u < i.
  HWY_INLINE void add_same_last(size_t i, size_t j, size_t u, Parts& sums) const {
    sums.right = hn::MulAdd(e_.get(u, i), o_.get(u, j), sums.right);
    sums.left = hn::MulAdd(c_.get(u, i - 1), s_.get(u, j), sums.left);
    sums.edge = hn::MulAdd(c_.get(i, u), o_.get(j, u), sums.edge);
  }

  HWY_INLINE void finish(size_t i, size_t j, const Parts& first, const Parts& last) const {
    const V right = hn::Add(first.right, last.right);
    const V left = hn::Add(first.left, last.left);
    const V right_edge = hn::Add(first.edge, right);
    const V left_edge = hn::Add(last.edge, left);
    o_.set(i, j, right);
    o_.set(j, i, left);
    s_.set(i, j, hn::MulAdd(right_edge, w_.get(i, j), hn::Mul(left_edge, w_.get(j, i))));
    w_.set(i, j, at_most_one(hn::Mul(right_edge, e_.get(i, j))));
    w_.set(j, i, at_most_one(hn::Mul(left_edge, e_.get(j, i))));
  }

  size_t first_;
  size_t n_;
  const Cells w_;
  const Cells c_;
  const Cells e_;
  const LaneSeeds& seeds_;
  const Cells o_;
  const Cells s_;
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_OUTSIDE_LANES_INL_H_
