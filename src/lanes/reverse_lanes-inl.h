// SPDX-License-Identifier: Apache-2.0
//
// The reverse pass of sentences side by side. Every lane gets the bits that gradient() of
// src/reverse would give it. Included once per target; see core/simd-inl.h for the guard.
#if defined(TAPROOT_LANES_REVERSE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_REVERSE_LANES_INL_H_
#undef TAPROOT_LANES_REVERSE_LANES_INL_H_
#else
#define TAPROOT_LANES_REVERSE_LANES_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "lanes/eliminate_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

class LaneReversePass {
 public:
  // `factors` and `inverse` are from LaneElimination. See ReversePass of gradient.cc.
  LaneReversePass(const Cells& factors, const NodeVectors& inverse, size_t n, bool single,
                  const Cells& gradient)
      : a_(factors), inverse_(inverse), n_(n), single_(single), g_(gradient) {}

  // gradient(m, h) = d log Z / d A[h][m].
  HWY_INLINE void run() {
    // The diagonal must be 0, and tiles read beyond the words that are back.
    std::fill(g_.at(1, 0), g_.at(n_ + 1, 0), 0.0);
    g_.set(1, 0, inverse_.get(1));
    for (size_t begin = 0; begin <= n_; begin += kBlock) {
      const size_t end = std::min(begin + kBlock, n_ + 1);
      if (begin > 0) {
        return_to_old_words(begin, end);
        sum_over_old_words(begin, end);
      }
      for (size_t k = std::max<size_t>(begin, 2); k < end; ++k) return_word(k, begin);
    }
  }

 private:
  // So many rows share what is loaded for a tile.
  static constexpr size_t kPair = kLanes == 8 ? 2 : 1;

  V share(size_t k, size_t h) const { return hn::Mul(a_.get(k, h), inverse_.get(k)); }

  // G[k][m] for m < begin and k in the group: the columns of the group in the rows before it.
  HWY_NOINLINE void return_to_old_words(size_t begin, size_t end) {
    const size_t size = end - begin;
    Triangle inverse;  // M / pivots: [l][c] for l <= c.
    for (size_t l = size; l-- > 0;) {
      for (size_t c = l + 1; c < size; ++c) {
        V x = hn::Zero(D());
        for (size_t j = l + 1; j < c; ++j) {
          x = hn::MulAdd(share(begin + j, begin + l), inverse.get(j, c), x);
        }
        inverse.set(l, c, hn::Add(share(begin + c, begin + l), x));
      }
    }
    for (size_t l = 0; l < size; ++l) {
      const V inverse_pivot = inverse_.get(begin + l);
      for (size_t c = l + 1; c < size; ++c)
        inverse.set(l, c, hn::Mul(inverse_pivot, inverse.get(l, c)));
      inverse.set(l, l, inverse_pivot);
    }
    for (size_t c = 0; c < size;) {
      if (c + kBlock <= size) {
        c += add_old_heads<kPair, kBlock>(begin, begin + c);
      } else if (c + 2 <= size) {
        c += add_old_heads<4, 2>(begin, begin + c);
      } else {
        c += add_old_heads<4, 1>(begin, begin + c);
      }
    }
    for (size_t m = 1; m < begin; ++m) {
      if (size == kBlock) {  // With a constant size the compiler keeps the row in registers.
        multiply_row(m, begin, kBlock, inverse);
      } else {
        multiply_row(m, begin, size, inverse);
      }
    }
  }

  // G[k][m] = sum over h < begin of G[h][m] A[h][k] for m < begin and kColumns words k.
  template <size_t kRows, size_t kColumns>
  HWY_INLINE size_t add_old_heads(size_t begin, size_t k) {
    size_t m = 1;
    for (; m + kRows <= begin; m += kRows) add_heads_tile<kRows, kColumns>(m, begin, k);
    for (; m < begin; ++m) add_heads_tile<1, kColumns>(m, begin, k);
    return kColumns;
  }
  template <size_t kRows, size_t kColumns>
  HWY_INLINE void add_heads_tile(size_t m, size_t begin, size_t k) {
    V b[kRows][kColumns];
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t c = 0; c < kColumns; ++c) b[r][c] = hn::Zero(D());
    }
    for (size_t h = 0; h < begin; ++h) {
      V g[kRows];
      for (size_t r = 0; r < kRows; ++r) g[r] = g_.get(m + r, h);
      for (size_t c = 0; c < kColumns; ++c) {
        const V weight = a_.get(k + c, h);
        for (size_t r = 0; r < kRows; ++r) b[r][c] = hn::MulAdd(g[r], weight, b[r][c]);
      }
    }
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t c = 0; c < kColumns; ++c) g_.set(m + r, k + c, b[r][c]);
    }
  }

  // Multiplies the entries of row m in the columns of a group (eight words) by the group's M.
  HWY_INLINE void multiply_row(size_t m, size_t begin, size_t size, const Triangle& inverse) {
    const Tile b = load_tile(g_.at(m, begin));
    for (size_t c = 0; c < size; ++c) {
      V even = hn::Mul(b.v[0], inverse.get(0, c));
      V odd = hn::Zero(D());
      for (size_t l = 1; l <= c; l += 2) odd = hn::MulAdd(b.v[l], inverse.get(l, c), odd);
      for (size_t l = 2; l <= c; l += 2) even = hn::MulAdd(b.v[l], inverse.get(l, c), even);
      g_.set(m, begin + c, hn::Add(even, odd));
    }
  }

  // gu_[k][h] = sum over m < begin of G[h][m] A[k][m], for the words k of the group and h < k.
  HWY_NOINLINE void sum_over_old_words(size_t begin, size_t end) {
    for (size_t j = 0; j < end; j += kBlock) {
      size_t k = begin;
      for (; k + kPair <= end; k += kPair) sum_tile<kPair>(k, j, begin);
      for (; k < end; ++k) sum_tile<1>(k, j, begin);
    }
  }

  template <size_t kWords>
  HWY_INLINE void sum_tile(size_t k, size_t j, size_t begin) {
    Tile total[kWords];
    for (size_t w = 0; w < kWords; ++w) total[w] = zero_tile();
    for (size_t m = 1; m < begin; ++m) {
      V weight[kWords];
      for (size_t w = 0; w < kWords; ++w) weight[w] = a_.get(m, k + w);
      const double* old = g_.at(m, j);
      for (size_t i = 0; i < kBlock; ++i) {
        const V g = hn::Load(D(), old + i * kLanes);
        for (size_t w = 0; w < kWords; ++w) {
          total[w].v[i] = hn::MulAdd(weight[w], g, total[w].v[i]);
        }
      }
    }
    for (size_t w = 0; w < kWords; ++w) store_tile(total[w], gu_[(k + w) % kBlock].at(j));
  }

  HWY_NOINLINE void return_word(size_t k, size_t begin) {
    const D d;
    const size_t first = std::max<size_t>(begin, 1);
    NodeVectors& gu = gu_[k % kBlock];
    Tile total = zero_tile();
    const V inverse = inverse_.get(k);
    for (size_t j = 0; j < k; j += kBlock) {
      Tile sums = begin == 0 ? zero_tile() : load_tile(gu.at(j));
      for (size_t m = first; m < k; ++m) {
        const V weight = a_.get(m, k);
        const double* old = g_.at(m, j);
        for (size_t i = 0; i < kBlock; ++i) {
          sums.v[i] = hn::MulAdd(weight, hn::Load(d, old + i * kLanes), sums.v[i]);
        }
      }
      store_tile(sums, gu.at(j));
      for (size_t i = 0; i < kBlock; ++i) {
        const V share =
            j + i < k ? hn::Mul(hn::Load(d, a_.at(k, j) + i * kLanes), inverse) : hn::Zero(d);
        share_.set(j + i, share);
        if (j + i < k) total.v[i] = hn::MulAdd(share, sums.v[i], total.v[i]);
      }
    }
    const V rest = hn::Sub(hn::Set(d, 1.0), sum(total));
    for (size_t h = 0; h < k; ++h) {
      g_.set(k, h, hn::Mul(hn::Add(gu.get(h), rest), inverse));
    }
    if (single_) g_.set(k, 0, hn::Mul(gu.get(0), inverse));
    for (size_t m = first; m < k; ++m) {
      Tile dot = zero_tile();
      for (size_t j = 0; j < k; j += kBlock) {
        for (size_t i = 0; i < kBlock; ++i) {
          dot.v[i] = hn::MulAdd(share_.get(j + i), hn::Load(d, g_.at(m, j) + i * kLanes), dot.v[i]);
        }
      }
      g_.set(m, k, sum(dot));
    }
  }

  const Cells a_;
  const NodeVectors& inverse_;
  size_t n_;
  bool single_;
  const Cells g_;
  NodeVectors gu_[kBlock];
  NodeVectors share_;
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_REVERSE_LANES_INL_H_
