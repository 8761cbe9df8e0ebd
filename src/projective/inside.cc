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

  void run() {
    ops_.store(ops_.zero(), right_ - ChartShape::kFront);
    for (size_t i = 0; i < (size_ + kBlock - 1) / kBlock * kBlock; ++i) {
      ops_.set(right_ + i, i < size_);
      ops_.set(left_ + i, i < size_);
    }
    pad(0);
    for (size_t d = 1; d < size_; ++d) {
      size_t i = 0;
      const size_t count = size_ - d;
      for (; i + (Ops::kWidth - 1) * kBlock < count; i += Ops::kWidth * kBlock) {
        blocks<Ops::kWidth>(d, i);
      }
      if constexpr (Ops::kWidth == 3) {
        for (; i + kBlock < count; i += 2 * kBlock) blocks<2>(d, i);
      }
      for (; i < count; i += kBlock) blocks<1>(d, i);
      pad(d);
    }
  }

 private:
  // Zeros behind row d, and before row d + 1.
  HWY_INLINE void pad(size_t d) {
    const size_t after = d * ld_ + (size_ - d + kBlock - 1) / kBlock * kBlock;
    const size_t end = (d + 1) * ld_ - kBlock;
    for (double* table : {right_, left_, right_edge_, left_edge_}) {
      ops_.store(ops_.zero(), table + after);
      ops_.store(ops_.zero(), table + end);
    }
  }

  // The spans of kWidth blocks of starts from i on. Sums run over even and odd splits apart, so
  // that a sum does not wait for the addition before.
  template <size_t kWidth>
  HWY_INLINE void blocks(size_t d, size_t i) {
    const size_t at = d * ld_ + i;
    Value even[kWidth];
    Value odd[kWidth];
    for (size_t w = 0; w < kWidth; ++w) even[w] = odd[w] = ops_.zero();
    sum<kWidth>(right_ + i, left_ + (d - 1) * ld_ + i + 1, d, even, odd);
    Value right[kWidth];
    Value left[kWidth];
    for (size_t w = 0; w < kWidth; ++w) {
      const size_t here = at + w * kBlock;
      const Value split = ops_.plus(even[w], odd[w]);
      // The last term of kRight and the first of kLeft: the other factor is 1.
      right[w] = ops_.times(split, ops_.load(right_weight_ + here));
      left[w] = ops_.times(split, ops_.load(left_weight_ + here));
      ops_.store(split, split_ + here);
      ops_.store(right[w], right_edge_ + here);
      ops_.store(left[w], left_edge_ + here);
      even[w] = odd[w] = ops_.zero();
    }
    sum<kWidth>(right_edge_ + ld_ + i, right_ + (d - 1) * ld_ + i + 1, d - 1, right, even);
    sum<kWidth>(left_ + ld_ + i, left_edge_ + (d - 1) * ld_ + i + 1, d - 1, left, odd);
    for (size_t w = 0; w < kWidth; ++w) {
      ops_.store(ops_.plus(right[w], even[w]), right_ + at + w * kBlock);
      ops_.store(ops_.plus(left[w], odd[w]), left_ + at + w * kBlock);
    }
  }

  // Adds the products of `count` splits, the even ones to `even` and the odd ones to `odd`. From
  // one split to the next, `a` goes up one diagonal, and `b` goes down one and a position on.
  template <size_t kWidth>
  HWY_INLINE void sum(const double* a, const double* b, size_t count, Value* even,
                      Value* odd) const {
    const auto up = static_cast<std::ptrdiff_t>(ld_);
    size_t e = 0;
    for (; e + 2 <= count; e += 2) {
      for (size_t w = 0; w < kWidth; ++w) {
        even[w] = ops_.accumulate(ops_.load(a + w * kBlock), ops_.load(b + w * kBlock), even[w]);
        odd[w] = ops_.accumulate(ops_.load(a + up + w * kBlock), ops_.load(b + down_ + w * kBlock),
                                 odd[w]);
      }
      a += 2 * up;
      b += 2 * down_;
    }
    if (e < count) {
      for (size_t w = 0; w < kWidth; ++w) {
        even[w] = ops_.accumulate(ops_.load(a + w * kBlock), ops_.load(b + w * kBlock), even[w]);
      }
    }
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
