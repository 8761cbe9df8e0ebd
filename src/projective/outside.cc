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

  // write(d, i, right, left) receives the marginals of the edges of eight spans.
  template <typename Write>
  HWY_INLINE void run(Write&& write) {
    pad(0);
    for (size_t d = size_ - 1; d >= 1; --d) {
      pad(d);  // Before its blocks, because they read what lies before row d + 1.
      for (size_t i = 0; i < size_ - d; i += kBlock) block(d, i, write);
    }
  }

 private:
  HWY_INLINE void pad(size_t d) {
    const size_t after = d * ld_ + (size_ - d + kBlock - 1) / kBlock * kBlock;
    const size_t end = (d + 1) * ld_ - kBlock;
    for (double* table : {out_right_, out_left_, out_split_}) {
      out_.store(out_.zero(), table + after);
      out_.store(out_.zero(), table + end);
    }
  }

  template <typename Write>
  HWY_INLINE void block(size_t d, size_t i, Write&& write) {
    const auto up = static_cast<std::ptrdiff_t>(ld_);
    const size_t at = d * ld_ + i;
    const size_t last = size_ - 1 - d;  // The last start of this length.
    Value right = last < i + kBlock ? out_.lane(out_right_ + last, last - i) : out_.zero();
    Value left = i == 0 ? out_.lane(out_left_ + d, 0) : out_.zero();
    Value right_edge = out_.zero();
    Value left_edge = out_.zero();
    // Longer spans with the same first position. Their last one has the start i alone.
    {
      const double* split = out_split_ + at + ld_;
      const double* outer_left = out_left_ + at + ld_;
      const double* outer_right = out_right_ + at + ld_;
      const double* other_left = left_ + i + d + 1;
      const double* other_edge = left_edge_ + ld_ + i + d;
      const double* other_right = right_ + ld_ + i + d;
      for (size_t t = 1; t <= last - i; ++t) {
        right = out_.accumulate(out_.load(split), in_.load(other_left), right);
        left = out_.accumulate(out_.load(outer_left), in_.load(other_edge), left);
        right_edge = out_.accumulate(out_.load(outer_right), in_.load(other_right), right_edge);
        split += up, outer_left += up, outer_right += up;
        other_left += up, other_edge += up, other_right += up;
      }
    }
    // Longer spans with the same last position, down to seven positions before the first one.
    {
      const std::ptrdiff_t back = up - 1;
      const double* split = out_split_ + at + back;
      const double* outer_right = out_right_ + at + back;
      const double* outer_left = out_left_ + at + back;
      const double* other_right = right_ + i - 1;
      const double* other_edge = right_edge_ + i + back;
      const double* other_left = left_ + i + back;
      const size_t most = std::min(i + kBlock - 1, last);
      for (size_t e = 1; e <= most; ++e) {
        left = out_.accumulate(out_.load(split), in_.load(other_right), left);
        right = out_.accumulate(out_.load(outer_right), in_.load(other_edge), right);
        left_edge = out_.accumulate(out_.load(outer_left), in_.load(other_left), left_edge);
        split += back, outer_right += back, outer_left += back;
        other_right += back, other_edge += back, other_left += back;
      }
    }
    right_edge = out_.plus(right_edge, right);
    left_edge = out_.plus(left_edge, left);
    out_.store(right, out_right_ + at);
    out_.store(left, out_left_ + at);
    out_.store(out_.accumulate(right_edge, in_.load(right_weight_ + at),
                               out_.times(left_edge, in_.load(left_weight_ + at))),
               out_split_ + at);
    write(d, i, out_.times(right_edge, in_.load(right_edge_ + at)),
          out_.times(left_edge, in_.load(left_edge_ + at)));
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
