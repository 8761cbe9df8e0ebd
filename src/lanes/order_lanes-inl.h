// SPDX-License-Identifier: Apache-2.0
//
// The order of elimination of sentences side by side, and cells between sentence order and order by
// position. Each sentence has an order of its own, the one that choose_order() would give it alone.
// Included once per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_LANES_ORDER_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_ORDER_LANES_INL_H_
#undef TAPROOT_LANES_ORDER_LANES_INL_H_
#else
#define TAPROOT_LANES_ORDER_LANES_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/scaled_product.h"
#include "eliminate/permute-inl.h"
#include "lanes/eliminate_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// For each node and lane, where something of it lies in cells.
struct NodeOffsets {
  HWY_ALIGN std::int64_t data[kMostNodes * kLanes];

  std::int64_t* at(size_t node) { return data + node * kLanes; }
  const std::int64_t* at(size_t node) const { return data + node * kLanes; }
};

using VPart = hn::Vec<PartCells::DPart>;

// The numbers at columns[i] + offsets[i], for i < PartCells::kWidth. Faster than the instructions
// that gather, and much faster where these must guard against leaks.
HWY_INLINE VPart gather(const double* const* columns, const std::int64_t* offsets) {
  [[maybe_unused]] const PartCells::DPart d;
#if HWY_MAX_BYTES >= 16
  const hn::CappedTag<double, 2> d2;
  const auto pair = [&](size_t i) HWY_ATTR {
    return hn::OddEven(hn::Set(d2, columns[i + 1][offsets[i + 1]]),
                       hn::Set(d2, columns[i][offsets[i]]));
  };
#if HWY_MAX_BYTES >= 32
  return hn::Combine(d, pair(2), pair(0));
#else
  return pair(0);
#endif
#else
  return hn::Set(d, columns[0][offsets[0]]);
#endif
}

// The weights, cells (h, m) in sentence order, and the matrix by position, cells (m, h).
class LaneOrder {
 public:
  LaneOrder(const PartCells& weights, const Cells& matrix, size_t n)
      : weights_(weights), matrix_(matrix), n_(n) {}

  // See choose_order(). `sums` are those over word heads, and are overwritten. `last` is not 0 for
  // words that may be eliminated last, and `words` says how many words each sentence has.
  HWY_NOINLINE void choose(bool single, NodeVectors& sums, const NodeVectors& last, V words) {
    const D d;
    V root_sum = hn::Zero(d);
    for (size_t m = 1; m <= n_; ++m) {
      const V weight = weights_.get(0, m);
      root_sum = hn::Add(root_sum, weight);
      if (!single) sums.set(m, hn::Add(sums.get(m), weight));
    }
    multiply_sums(sums);
    if (single) multiply_bounds(root_sum);
    find_keys(sums, last, words);
    rank();
  }

  // The weights go to the matrix. Sentences of fewer than n words are filled up with words that
  // change nothing: each has one head of weight 1, the first word (the first word itself has ROOT),
  // and no modifiers.
  HWY_NOINLINE void to_positions(const size_t* words) {
    HWY_ALIGN double zero[kLanes] = {};
    HWY_ALIGN double column[kLanes];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      column[lane] = static_cast<double>(weights_.of_lane(0, 0, lane) - weights_.data);
      const auto first = static_cast<size_t>(order_.at(1)[lane]);
      for (size_t m = words[lane] + 1; m <= n_; ++m) {
        *weights_.of_lane(m == first ? 0 : first, m, lane) = 1.0;
      }
    }
    NodeOffsets head;
    NodeOffsets modifier;
    set_offsets(order_, weights_.ld * kWidth, zero, head);
    set_offsets(order_, kWidth, column, modifier);
    for (size_t first = 0; first < kLanes; first += kWidth) {
      size_t m = 1;
      for (; m < n_; m += 2) gather_rows<2>(m, first, modifier, head);
      if (m == n_) gather_rows<1>(m, first, modifier, head);
    }
  }

  // The weights become marginals, from the gradient of log Z in cells by position.
  HWY_NOINLINE void to_marginals(const Cells& gradient) const {
    HWY_ALIGN double zero[kLanes] = {};
    HWY_ALIGN double lanes[kLanes];
    hn::Store(hn::Iota(D(), 0.0), D(), lanes);
    NodeOffsets head;
    NodeOffsets modifier;
    set_offsets(position_, kLanes, lanes, head);
    set_offsets(position_, gradient.ld * kLanes, zero, modifier);
    for (size_t first = 0; first < kLanes; first += kWidth) {
      size_t h = 0;
      for (; h < n_; h += 2) rows_to_marginals<2>(h, first, gradient, head, modifier);
      if (h == n_) rows_to_marginals<1>(h, first, gradient, head, modifier);
    }
  }

  ScaledProduct bound[kLanes];  // Upper bounds of Z, from choose().

 private:
  using DPart = PartCells::DPart;
  static constexpr size_t kWidth = PartCells::kWidth;

  // Rows m, m + 1, ... of the matrix, in the lanes from `first` on. Rows share the heads' offsets.
  template <size_t kRows>
  HWY_INLINE void gather_rows(size_t m, size_t first, const NodeOffsets& modifier,
                              const NodeOffsets& head) {
    const double* columns[kRows][kWidth];
    double* to[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      to[r] = matrix_.at(m + r, 0) + first;
      for (size_t i = 0; i < kWidth; ++i) {
        columns[r][i] = weights_.data + modifier.at(m + r)[first + i];
      }
    }
    size_t h = 0;
    for (; h <= n_; ++h) {
      const std::int64_t* offsets = head.at(h) + first;
      for (size_t r = 0; r < kRows; ++r) {
        hn::Store(gather(columns[r], offsets), DPart(), to[r] + h * kLanes);
      }
    }
    for (; h % kBlock != 0; ++h) {
      for (size_t r = 0; r < kRows; ++r) hn::Store(hn::Zero(DPart()), DPart(), to[r] + h * kLanes);
    }
  }

  // The marginals of heads h, h + 1, ..., in the lanes from `first` on.
  template <size_t kRows>
  HWY_INLINE void rows_to_marginals(size_t h, size_t first, const Cells& gradient,
                                    const NodeOffsets& head, const NodeOffsets& modifier) const {
    const DPart d;
    const double* slopes[kRows][kWidth];
    double* to[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      to[r] = weights_.of_lane(h + r, 0, first);
      hn::Store(hn::Zero(d), d, to[r]);
      for (size_t i = 0; i < kWidth; ++i) {
        slopes[r][i] = gradient.data + head.at(h + r)[first + i];
      }
    }
    for (size_t m = 1; m <= n_; ++m) {
      const std::int64_t* offsets = modifier.at(m) + first;
      for (size_t r = 0; r < kRows; ++r) {
        const VPart weight = hn::Load(d, to[r] + m * kWidth);
        hn::Store(marginal(d, weight, gather(slopes[r], offsets)), d, to[r] + m * kWidth);
      }
    }
  }

  void multiply_bounds(V factors) {
    HWY_ALIGN double factor[kLanes];
    hn::Store(factors, D(), factor);
    for (size_t lane = 0; lane < kLanes; ++lane) bound[lane].multiply(factor[lane]);
  }

  // Multiplies max(sums[m], 1) in the order of row_keys(), and replaces the sums by their inverses,
  // with 0 for ROOT.
  HWY_INLINE void multiply_sums(NodeVectors& sums) {
    const D d;
    sums.set(0, hn::Zero(d));
    const V one = hn::Set(d, 1.0);
    constexpr size_t kStep = 16 * kLanes;
    for (size_t begin = 0; begin <= n_; begin += kStep) {
      NodeVectors products;  // Of every kLanes-th sum.
      for (size_t i = 0; i < kLanes; ++i) products.set(i, one);
      for (size_t m = std::max<size_t>(begin, 1); m < std::min(begin + kStep, n_ + 1); ++m) {
        const V sum = sums.get(m);
        products.set(m % kLanes, hn::Mul(products.get(m % kLanes), hn::Max(sum, one)));
        sums.set(m, hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), hn::Div(one, sum)));
      }
      for (size_t i = 0; i < kLanes; ++i) multiply_bounds(products.get(i));
    }
  }

  // keys[h] = sum over m of weights(h, m) inverse[m], and infinity for the word that is left to the
  // end. Words beyond a sentence's end come after all others.
  HWY_INLINE void find_keys(const NodeVectors& inverse, const NodeVectors& last, V words) {
    const D d;
    V largest = hn::Set(d, -HUGE_VAL);
    V at = hn::Zero(d);
    for (size_t h = 1; h <= n_; ++h) {
      for (size_t first = 0; first < kLanes; first += kWidth) {
        hn::Store(sum_of_shares(h, first, inverse), DPart(), keys_.at(h) + first);
      }
      const V word = hn::Set(d, static_cast<double>(h));
      const V key = hn::IfThenElse(hn::Le(word, words), keys_.get(h), hn::Set(d, -HUGE_VAL));
      keys_.set(h, key);
      const auto is_larger = hn::And(hn::Ne(last.get(h), hn::Zero(d)), hn::Gt(key, largest));
      largest = hn::IfThenElse(is_larger, key, largest);
      at = hn::IfThenElse(is_larger, word, at);
    }
    HWY_ALIGN double left[kLanes];
    hn::Store(at, d, left);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      keys_.at(static_cast<size_t>(left[lane]))[lane] = HUGE_VAL;
    }
  }

  // The sum over m, modulo 8 as in sum(Block), of the lanes from `first` on.
  HWY_INLINE VPart sum_of_shares(size_t h, size_t first, const NodeVectors& inverse) const {
    const double* row = weights_.at(h, 0) + first / kWidth * weights_.size;
    const double* factors = inverse.at(0) + first;
    VPart total[kBlock];
    for (size_t i = 0; i < kBlock; ++i) total[i] = hn::Zero(DPart());
    const auto add = [&](size_t i, size_t m) HWY_ATTR {
      const VPart factor = hn::Load(DPart(), factors + m * kLanes);
      total[i] = hn::MulAdd(hn::Load(DPart(), row + m * kWidth), factor, total[i]);
    };
    size_t j = 0;
    for (; j + kBlock <= n_ + 1; j += kBlock) {
      for (size_t i = 0; i < kBlock; ++i) add(i, j + i);
    }
    for (size_t i = 0; i < kBlock; ++i) {
      if (j + i <= n_) add(i, j + i);
    }
    return sum_of_eight(total);
  }

  // The position of a word is 1 + the number of words with larger keys, or with the same key and a
  // larger index. Each pair of words is compared once.
  HWY_INLINE void rank() {
    const D d;
    const V one = hn::Set(d, 1.0);
    position_.set(0, hn::Zero(d));
    order_.set(0, hn::Zero(d));
    for (size_t word = 1; word <= n_; ++word) {
      const V key = keys_.get(word);
      // Behind all words of larger index, until these are compared with it.
      V position = hn::Set(d, static_cast<double>(n_ - word + 1));
      for (size_t i = 1; i < word; ++i) {
        const V larger = hn::IfThenElseZero(hn::Gt(keys_.get(i), key), one);
        position = hn::Add(position, larger);
        position_.set(i, hn::Sub(position_.get(i), larger));
      }
      position_.set(word, position);
    }
    const hn::RebindToSigned<D> di;
    HWY_ALIGN std::int64_t position[kLanes];
    for (size_t word = 1; word <= n_; ++word) {
      hn::Store(hn::ConvertTo(di, position_.get(word)), di, position);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        order_.at(static_cast<size_t>(position[lane]))[lane] = static_cast<double>(word);
      }
    }
  }

  // offsets[i] = step * of[i] + first[lane], for all nodes.
  HWY_INLINE void set_offsets(const NodeVectors& of, size_t step, const double* first,
                              NodeOffsets& offsets) const {
    const D d;
    const V steps = hn::Set(d, static_cast<double>(step));
    for (size_t i = 0; i <= n_; ++i) {
      const V offset = hn::MulAdd(of.get(i), steps, hn::Load(d, first));
      hn::Store(hn::ConvertTo(hn::RebindToSigned<D>(), offset), hn::RebindToSigned<D>(),
                offsets.at(i));
    }
  }

  const PartCells weights_;
  const Cells matrix_;
  size_t n_;
  NodeVectors keys_;
  NodeVectors position_;  // Of each node,
  NodeVectors order_;     // and the node at each position.
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_ORDER_LANES_INL_H_
