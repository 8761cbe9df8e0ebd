// SPDX-License-Identifier: Apache-2.0
#include "projective/outside.h"

#include <algorithm>

#include "projective/simply.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "projective/outside.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "projective/semirings-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Row 0 of the tables kOutRight and kOutLeft, which no span needs, holds the derivatives of Z
// itself: entry m of the first is that of the kRight span from m to the last position, and entry d
// of the second is that of the kLeft span from the first position to d.
template <typename Ops>
class Outside {
 public:
  using Value = typename Ops::Value;

  Outside(const Ops& in, const Ops& out, const ChartView<const double>& chart,
          const ChartView<double>& result)
      : in_(in),
        out_(out),
        size_(chart.shape().rows()),
        ld_(chart.ld()),
        right_(chart.table(kRight)),
        left_(chart.table(kLeft)),
        right_edge_(chart.table(kRightEdge)),
        left_edge_(chart.table(kLeftEdge)),
        right_weight_(chart.table(kRightWeight)),
        left_weight_(chart.table(kLeftWeight)),
        out_right_(result.table(kOutRight)),
        out_left_(result.table(kOutLeft)),
        out_split_(result.table(kOutSplit)) {}

  // write(d, i, right, left) receives the marginals of the edges of eight spans. Two lengths at a
  // time, the longer one first, so that what is loaded for one serves the other. In each, starts
  // from the first on, because a span is part of a longer one that starts earlier.
  template <typename Write>
  HWY_INLINE void run(Write&& write) {
    pad(0);
    size_t d = size_ - 1;
    for (; d >= 2; d -= 2) {
      pad(d);  // Before its blocks, because they read what lies before row d + 1.
      pad(d - 1);
      size_t i = 0;
      for (; i < size_ - d; i += kBlock) block<2>(d, i, write);
      if (i == size_ - d) block<1>(d - 1, i, write);  // The longer spans have no start here.
    }
    if (d == 0) return;
    pad(1);
    for (size_t i = 0; i < size_ - 1; i += kBlock) block<1>(1, i, write);
  }

 private:
  TAPROOT_KERNEL_PART void pad(size_t d) {
    const size_t after = d * ld_ + (size_ - d + kBlock - 1) / kBlock * kBlock;
    const size_t end = (d + 1) * ld_ - kBlock;
    for (double* table : {out_right_, out_left_, out_split_}) {
      out_.store(out_.zero(), table + after);
      out_.store(out_.zero(), table + end);
    }
  }

  // Entries of `out` for eight spans of a length.
  struct Spans {
    Value right;
    Value left;
    Value split;
  };
  // Sums over longer spans with the same first position, or with the same last one: parts of the
  // derivatives with respect to kRight and kLeft, and to kRightEdge or kLeftEdge.
  struct Parts {
    Value right;
    Value left;
    Value edge;
  };
  // Finds lengths d and, if kRows is 2, d - 1 for a block of starts from i on. Sums run from the
  // longest spans to the shortest, so length d is added to the sums of d - 1 at the end.
  template <size_t kRows, typename Write>
  TAPROOT_KERNEL_PART void block(size_t d, size_t i, Write&& write) {
    Parts first[kRows];
    Parts last[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      const size_t end = size_ - 1 - (d - r);  // The last start of this length.
      first[r].right = end < i + kBlock ? out_.lane(out_right_ + end, end - i) : out_.zero();
      first[r].left = first[r].edge = out_.zero();
      last[r].left = i == 0 ? out_.lane(out_left_ + d - r, 0) : out_.zero();
      last[r].right = last[r].edge = out_.zero();
    }
    sum_same_first<kRows>(d, i, first);
    // Up to seven positions before the first one there are zeros.
    const size_t longest = size_ - 1 - d;
    const size_t most = std::min(i + kBlock - 1, longest);
    if (kRows == 2 && longest > 0 && i + kBlock - 1 > longest) {
      sum_same_last<1, 2>(d, i, longest + 1, longest, last);  // Spans with one position more.
    }
    sum_same_last<0, kRows>(d, i, most, kRows - 1, last);
    if (kRows == 2) sum_same_last<0, 1>(d, i, std::min<size_t>(most, 1), 0, last);
    const Spans spans = finish(d, i, first[0], last[0], write);
    if constexpr (kRows == 2) {
      add_shortest(d, i, spans, first[1], last[1]);
      finish(d - 1, i, first[1], last[1], write);
    }
  }

  // Over the spans longer than d with the same first position.
  template <size_t kRows>
  TAPROOT_KERNEL_PART void sum_same_first(size_t d, size_t i, Parts* sums) const {
    const size_t longest = size_ - 1 - i;
    if (longest <= d) return;
    const double* split = out_split_ + longest * ld_ + i;
    const double* outer_left = out_left_ + longest * ld_ + i;
    const double* outer_right = out_right_ + longest * ld_ + i;
    const double* after = left_ + (longest - d - 1) * ld_ + i + d + 1;
    const double* edge = left_edge_ + (longest - d) * ld_ + i + d;
    const double* right = right_ + (longest - d) * ld_ + i + d;
    for (size_t u = longest; u > d; --u) {
      const Value a = out_.load(split);
      const Value b = out_.load(outer_left);
      const Value c = out_.load(outer_right);
      for (size_t r = 0; r < kRows; ++r) {
        const size_t at = r * (ld_ - 1);
        sums[r].right = out_.accumulate(a, in_.load(after + at), sums[r].right);
        sums[r].left = out_.accumulate(b, in_.load(edge + at), sums[r].left);
        sums[r].edge = out_.accumulate(c, in_.load(right + at), sums[r].edge);
      }
      split -= ld_, outer_left -= ld_, outer_right -= ld_;
      after -= ld_, edge -= ld_, right -= ld_;
    }
  }

  // Over the spans with the same last position that start `from` down to `to` + 1 positions
  // earlier, for the lengths d - kFirst to d - kEnd + 1.
  template <size_t kFirst, size_t kEnd>
  TAPROOT_KERNEL_PART void sum_same_last(size_t d, size_t i, size_t from, size_t to,
                                         Parts* sums) const {
    if (from <= to) return;
    const size_t outer = (d + from) * ld_ + i - from;
    const double* outer_right = out_right_ + outer;
    const double* split = out_split_ + outer;
    const double* outer_left = out_left_ + outer;
    const double* edge = right_edge_ + from * ld_ + i - from;
    const double* before = right_ + (from - 1) * ld_ + i - from;
    const double* left = left_ + from * ld_ + i - from;
    const size_t step = ld_ - 1;
    for (size_t e = from; e > to; --e) {
      const Value a = in_.load(edge);
      const Value b = in_.load(before);
      const Value c = in_.load(left);
      for (size_t r = kFirst; r < kEnd; ++r) {
        sums[r].right = out_.accumulate(out_.load(outer_right - r * ld_), a, sums[r].right);
        sums[r].left = out_.accumulate(out_.load(split - r * ld_), b, sums[r].left);
        sums[r].edge = out_.accumulate(out_.load(outer_left - r * ld_), c, sums[r].edge);
      }
      outer_right -= step, split -= step, outer_left -= step;
      edge -= step, before -= step, left -= step;
    }
  }

  // Adds the spans of length d, which were just found, to the sums of length d - 1.
  TAPROOT_KERNEL_PART void add_shortest(size_t d, size_t i, const Spans& same, Parts& first,
                                        Parts& last) const {
    const size_t after = ld_ + i + d - 1;
    first.right = out_.accumulate(same.split, in_.load(left_ + i + d), first.right);
    first.left = out_.accumulate(same.left, in_.load(left_edge_ + after), first.left);
    first.edge = out_.accumulate(same.right, in_.load(right_ + after), first.edge);
    const size_t before = d * ld_ + i - 1;
    const Value right = out_.earlier(same.right, out_right_ + before);
    const Value left = out_.earlier(same.left, out_left_ + before);
    const Value split = out_.earlier(same.split, out_split_ + before);
    last.right = out_.accumulate(right, in_.load(right_edge_ + ld_ + i - 1), last.right);
    last.left = out_.accumulate(split, in_.load(right_ + i - 1), last.left);
    last.edge = out_.accumulate(left, in_.load(left_ + ld_ + i - 1), last.edge);
  }

  // Stores the entries of eight spans, and writes their marginals.
  template <typename Write>
  TAPROOT_KERNEL_PART Spans finish(size_t d, size_t i, const Parts& first, const Parts& last,
                                   Write&& write) {
    const size_t at = d * ld_ + i;
    const Value right = out_.plus(first.right, last.right);
    const Value left = out_.plus(first.left, last.left);
    const Value right_edge = out_.plus(first.edge, right);
    const Value left_edge = out_.plus(last.edge, left);
    const Value split = out_.accumulate(right_edge, in_.load(right_weight_ + at),
                                        out_.times(left_edge, in_.load(left_weight_ + at)));
    out_.store(right, out_right_ + at);
    out_.store(left, out_left_ + at);
    out_.store(split, out_split_ + at);
    write(d, i, out_.times(right_edge, in_.load(right_edge_ + at)),
          out_.times(left_edge, in_.load(left_edge_ + at)));
    return {right, left, split};
  }

  Ops in_;   // Reads the chart.
  Ops out_;  // Reads and writes the result.
  size_t size_;
  size_t ld_;
  const double* right_;
  const double* left_;
  const double* right_edge_;
  const double* left_edge_;
  const double* right_weight_;
  const double* left_weight_;
  double* out_right_;
  double* out_left_;
  double* out_split_;
};

// Writes the marginals of eight spans of a length to the two diagonals of the matrix.
struct Scatter {
  size_t size;
  size_t first;
  EdgeMatrix to;

  HWY_INLINE void operator()(size_t d, size_t i, Block right, Block left) const {
    HWY_ALIGN double rights[kBlock];
    HWY_ALIGN double lefts[kBlock];
    store(right, rights);
    store(left, lefts);
    const size_t count = std::min(kBlock, size - d - i);
    const auto stride = to.head_stride + 1;
    const auto node = static_cast<std::ptrdiff_t>(i + first);
    const auto length = static_cast<std::ptrdiff_t>(d);
    double* HWY_RESTRICT right_to = to.data + node * stride + length;
    double* HWY_RESTRICT left_to = to.data + node * stride + length * to.head_stride;
    for (size_t lane = 0; lane < count; ++lane) {
      right_to[static_cast<std::ptrdiff_t>(lane) * stride] = rights[lane];
      left_to[static_cast<std::ptrdiff_t>(lane) * stride] = lefts[lane];
    }
  }
};

// Marginals, or 1 where they round above it. A minimum would hide NaN.
HWY_INLINE Block at_most_one(Block p) {
  const V one = hn::Set(D(), 1.0);
  for (V& v : p.v) v = hn::IfThenElse(hn::Gt(v, one), one, v);
  return p;
}

void outside_sum(const ChartView<const double>& chart, const ChartView<double>& out, EdgeMatrix p) {
  const Scatter scatter{chart.shape().rows(), static_cast<size_t>(chart.shape().first), p};
  Outside<SumProduct>({}, {}, chart, out).run([&](size_t d, size_t i, Block right, Block left) {
    scatter(d, i, at_most_one(right), at_most_one(left));
  });
}

void outside_slopes(const ChartView<const double>& chart, const ChartView<double>& out,
                    std::ptrdiff_t chart_slope, std::ptrdiff_t out_slope, double scale,
                    EdgeMatrix derivative) {
  const Scatter scatter{chart.shape().rows(), static_cast<size_t>(chart.shape().first), derivative};
  Outside<DualSumProduct>({chart_slope}, {out_slope}, chart, out)
      .run([&](size_t d, size_t i, DualSumProduct::Value right, DualSumProduct::Value left) {
        const Block factor = broadcast(scale);
        scatter(d, i, multiply(factor, right.slope), multiply(factor, left.slope));
      });
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(outside_sum);
HWY_EXPORT(outside_slopes);

namespace {

// Row 0 of kOutRight and kOutLeft, as Outside reads them: the derivatives of seed * Z, where `seed`
// is held fixed. `at` reads the chart.
template <typename T, typename At, typename Put>
void fill_seeds(const ChartShape& shape, const T& seed, At&& at, Put&& put) {
  const int last = shape.size - 1;
  for (int m = 0; m <= last; ++m) {
    if (shape.single()) {
      const T weight = seed * at(kChartTables, 0, m);
      put(kOutRight, m, weight * at(kLeft, m, 0));
      put(kOutLeft, m, weight * at(kRight, last - m, m));
    } else {
      put(kOutRight, m, m == 0 ? seed : T(0));
      put(kOutLeft, m, T(0));
    }
  }
}

}  // namespace

void outside(const ChartView<const double>& chart, double seed, const ChartView<double>& out,
             EdgeMatrix p) {
  fill_seeds<double>(
      chart.shape(), seed, [&](std::size_t t, int d, int i) { return chart(t, d, i); },
      [&](std::size_t t, int i, double x) { out(t, 0, i) = x; });
  HWY_DYNAMIC_DISPATCH(outside_sum)(chart, out, p);
}

void outside_dual(const ChartView<const double>& chart, double seed, double seed_slope,
                  const ChartView<double>& out, std::ptrdiff_t chart_slope,
                  std::ptrdiff_t out_slope, double scale, EdgeMatrix derivative) {
  fill_seeds<Dual<double>>(
      chart.shape(), {seed, seed_slope},
      [&](std::size_t t, int d, int i) {
        const double* x = &chart(t, d, i);
        return Dual<double>(x[0], x[chart_slope]);
      },
      [&](std::size_t t, int i, const Dual<double>& x) {
        (&out(t, 0, i))[0] = x.value;
        (&out(t, 0, i))[out_slope] = x.slope;
      });
  HWY_DYNAMIC_DISPATCH(outside_slopes)
  (chart, out, chart_slope, out_slope, scale, derivative);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
