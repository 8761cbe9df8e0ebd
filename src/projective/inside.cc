// SPDX-License-Identifier: Apache-2.0
#include "projective/inside.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "projective/inside.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "projective/semirings-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

template <typename Ops>
class Inside {
 public:
  using Value = typename Ops::Value;

  Inside(const Ops& ops, const ChartView<double>& chart)
      : ops_(ops),
        size_(chart.shape().rows()),
        ld_(chart.ld()),
        down_(1 - static_cast<std::ptrdiff_t>(chart.ld())),
        right_(chart.table(kRight)),
        left_(chart.table(kLeft)),
        split_(chart.table(kSplit)),
        right_edge_(chart.table(kRightEdge)),
        left_edge_(chart.table(kLeftEdge)),
        right_weight_(chart.table(kRightWeight)),
        left_weight_(chart.table(kLeftWeight)) {}

  // Two lengths at a time, so that what is loaded for the shorter spans serves the longer ones. In
  // each, starts from the last down: a longer span contains a shorter one that starts later.
  void run() {
    ops_.store(ops_.zero(), right_ - ChartShape::kFront);
    for (size_t i = 0; i < (size_ + kBlock - 1) / kBlock * kBlock; ++i) {
      ops_.set(right_ + i, i < size_);
      ops_.set(left_ + i, i < size_);
    }
    pad(0);
    for (size_t d = 1; d < size_; d += 2) {
      size_t end = (size_ - d + kBlock - 1) / kBlock * kBlock;
      pad(d);
      if ((size_ - d) % kBlock == 1) {  // The longer spans have no start in the last block.
        end -= kBlock;
        blocks<1, 1>(d, end);
      }
      if (end > 0) pad(d + 1);
      for (; end >= Ops::kWidth * kBlock; end -= Ops::kWidth * kBlock) {
        blocks<Ops::kWidth, 2>(d, end - Ops::kWidth * kBlock);
      }
      if (Ops::kWidth == 3 && end == 2 * kBlock) {
        blocks<2, 2>(d, 0);
      } else if (end > 0) {
        blocks<1, 2>(d, 0);
      }
    }
  }

 private:
  // Zeros behind row d, and before row d + 1.
  TAPROOT_KERNEL_PART void pad(size_t d) {
    const size_t after = d * ld_ + (size_ - d + kBlock - 1) / kBlock * kBlock;
    const size_t end = (d + 1) * ld_ - kBlock;
    for (double* table : {right_, left_, right_edge_, left_edge_}) {
      ops_.store(ops_.zero(), table + after);
      ops_.store(ops_.zero(), table + end);
    }
  }

  // One value for each of kRows lengths and kWidth blocks of starts.
  template <size_t kWidth, size_t kRows>
  struct Sums {
    Value v[kRows][kWidth];
  };

  // The spans of the lengths d .. d + kRows - 1 in kWidth blocks of starts from i on. First the
  // sums over the splits away from both ends, and then the splits at the ends, whose parts may be
  // of the lengths that are being filled.
  template <size_t kWidth, size_t kRows>
  TAPROOT_KERNEL_PART void blocks(size_t d, size_t i) {
    const auto length = static_cast<std::ptrdiff_t>(d);
    Sums<kWidth, kRows> split;
    Sums<kWidth, kRows> right;
    Sums<kWidth, kRows> left;
    sum(right_ + ld_ + i, left_, d, i, length - 2, split);
    sum(right_edge_ + 2 * ld_ + i, right_, d, i, length - 3, right);
    sum(left_ + 2 * ld_ + i, left_edge_, d, i, length - 3, left);
    Spans spans[kWidth];
    for (size_t w = 0; w < kWidth; ++w) {
      const size_t begin = i + w * kBlock;
      spans[w] =
          finish(d, begin, shorter_spans(d - 1, begin), split.v[0][w], right.v[0][w], left.v[0][w]);
    }
    if constexpr (kRows == 2) {
      for (size_t w = 0; w < kWidth; ++w) {
        const size_t begin = i + w * kBlock;
        const size_t after = d * ld_ + begin + kBlock;
        Shorter shorter{spans[w], ops_.later(spans[w].right, right_ + after),
                        ops_.later(spans[w].left, left_ + after),
                        ops_.later(spans[w].left_edge, left_edge_ + after)};
        finish(d + 1, begin, shorter, split.v[1][w], right.v[1][w], left.v[1][w]);
      }
    }
  }

  // Sums of products over `count` splits, and over one more for the longer spans. From one split to
  // the next, `a` goes up one diagonal, and the other factor goes down one and a position on.
  template <size_t kWidth, size_t kRows>
  TAPROOT_KERNEL_PART void sum(const double* a, const double* table, size_t d, size_t i,
                               std::ptrdiff_t count, Sums<kWidth, kRows>& total) const {
    for (auto& row : total.v) {
      for (Value& v : row) v = ops_.zero();
    }
    if (count < 0) return;
    const double* b = table + (d - 2) * ld_ + i + 2;
    for (; count > 0; --count, a += ld_, b += down_) {
      for (size_t w = 0; w < kWidth; ++w) {
        const Value shared = ops_.load(a + w * kBlock);
        for (size_t r = 0; r < kRows; ++r) {
          total.v[r][w] =
              ops_.accumulate(shared, ops_.load(b + r * ld_ + w * kBlock), total.v[r][w]);
        }
      }
    }
    if constexpr (kRows == 2) {
      for (size_t w = 0; w < kWidth; ++w) {
        total.v[1][w] = ops_.accumulate(ops_.load(a + w * kBlock), ops_.load(b + ld_ + w * kBlock),
                                        total.v[1][w]);
      }
    }
  }

  // Entries of eight spans of a length.
  struct Spans {
    Value right;
    Value left;
    Value right_edge;
    Value left_edge;
  };
  // Those of spans that are one position shorter, with the same first position or, in `later`, with
  // the same last one.
  struct Shorter {
    Spans first;
    Value later_right;
    Value later_left;
    Value later_left_edge;
  };
  HWY_INLINE Shorter shorter_spans(size_t d, size_t i) const {
    const size_t at = d * ld_ + i;
    return {{ops_.load(right_ + at), ops_.load(left_ + at), ops_.load(right_edge_ + at),
             ops_.load(left_edge_ + at)},
            ops_.load(right_ + at + 1),
            ops_.load(left_ + at + 1),
            ops_.load(left_edge_ + at + 1)};
  }

  // Adds the splits at the ends and stores the entries. A span of two positions has one split, and
  // one of three has two. The empty span behind the last start is 0, which makes 0 of the entries
  // there.
  TAPROOT_KERNEL_PART Spans finish(size_t d, size_t i, const Shorter& shorter, Value split,
                                   Value right, Value left) const {
    const size_t at = d * ld_ + i;
    if (d >= 2) split = ops_.plus(split, shorter.later_left);
    split = ops_.accumulate(shorter.first.right, ops_.load(left_ + i + d), split);
    const Value right_edge = ops_.times(split, ops_.load(right_weight_ + at));
    const Value left_edge = ops_.times(split, ops_.load(left_weight_ + at));
    if (d >= 2) {
      right = ops_.accumulate(ops_.load(right_edge_ + ld_ + i), shorter.later_right, right);
      left = ops_.accumulate(ops_.load(left_ + ld_ + i), shorter.later_left_edge, left);
    }
    if (d >= 3) {
      const size_t last = ld_ + i + d - 1;
      right = ops_.accumulate(shorter.first.right_edge, ops_.load(right_ + last), right);
      left = ops_.accumulate(shorter.first.left, ops_.load(left_edge_ + last), left);
    }
    right = ops_.plus(right, right_edge);
    left = ops_.plus(left, left_edge);
    ops_.store(split, split_ + at);
    ops_.store(right_edge, right_edge_ + at);
    ops_.store(left_edge, left_edge_ + at);
    ops_.store(right, right_ + at);
    ops_.store(left, left_ + at);
    return {right, left, right_edge, left_edge};
  }

  Ops ops_;
  size_t size_;
  size_t ld_;
  std::ptrdiff_t down_;
  double* right_;
  double* left_;
  double* split_;
  double* right_edge_;
  double* left_edge_;
  const double* right_weight_;
  const double* left_weight_;
};

void inside_sum(const ChartView<double>& chart) { Inside<SumProduct>({}, chart).run(); }
void inside_max(const ChartView<double>& chart) { Inside<MaxPlus>({}, chart).run(); }
void inside_slopes(const ChartView<double>& chart, std::ptrdiff_t slope) {
  Inside<DualSumProduct>({slope}, chart).run();
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(inside_sum);
HWY_EXPORT(inside_max);
HWY_EXPORT(inside_slopes);

void inside(const ChartView<double>& chart) { HWY_DYNAMIC_DISPATCH(inside_sum)(chart); }
void inside_best(const ChartView<double>& chart) { HWY_DYNAMIC_DISPATCH(inside_max)(chart); }
void inside_dual(const ChartView<double>& chart, std::ptrdiff_t slope) {
  HWY_DYNAMIC_DISPATCH(inside_slopes)(chart, slope);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
