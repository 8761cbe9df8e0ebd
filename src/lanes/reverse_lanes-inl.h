// SPDX-License-Identifier: Apache-2.0
//
// The reverse pass of sentences side by side: gradient_simply() of reverse/gradient.h, lane by
// lane. Included once per target; see core/simd-inl.h for the guard.
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

// So many heads at a time: each number of the gradient is loaded once for both of its sums. Heads
// are summed in fours on every target, so that all give the same bits.
inline constexpr size_t kFour = 4;
inline constexpr size_t kReverseTile = kLanes == 8 ? 2 * kFour : kFour;

class LaneReversePass {
 public:
  // `rows` and `inverse` are from LaneElimination.
  LaneReversePass(const Cells& rows, const NodeVectors& inverse, size_t n, bool single,
                  const Cells& gradient)
      : rows_(rows), inverse_(inverse), n_(n), single_(single), g_(gradient) {}

  // gradient(m, h) = d log Z / d A[h][m].
  HWY_INLINE void run() {
    // Tiles read beyond the words that are back, where the gradient must be 0.
    std::fill(g_.at(1, 0), g_.at(n_ + 1, 0), 0.0);
    g_.set(1, 0, inverse_.get(1));
    for (size_t k = 2; k <= n_; ++k) return_word(k);
  }

 private:
  HWY_NOINLINE void return_word(size_t k) {
    const D d;
    for (size_t m = 1; m < k; ++m) out_of_.set(m, hn::Zero(d));
    V expected = hn::Zero(d);
    for (size_t tile = 0; tile < k; tile += kReverseTile) expected = add_tile(k, tile, expected);
    const V rest = hn::Sub(hn::Set(d, 1.0), expected);
    const V inverse = inverse_.get(k);
    for (size_t h = 0; h < k; ++h) {
      const V sum = h == 0 && single_ ? into_.get(0) : hn::Add(rest, into_.get(h));
      g_.set(k, h, hn::Mul(sum, inverse));
    }
    for (size_t m = 1; m < k; ++m) g_.set(m, k, out_of_.get(m));
  }

  // Over the heads of a tile: into_[h] = sum over m of G[h][m] A[k][m], and adds share_k[h] G[h][m]
  // to out_of_[m]. Returns `expected` with the sum of share_k[h] into_[h] added.
  HWY_INLINE V add_tile(size_t k, size_t tile, V expected) {
    const D d;
    V share[kReverseTile];
    V into[kReverseTile];
    for (size_t i = 0; i < kReverseTile; ++i) {
      share[i] = tile + i < k ? rows_.get(k, tile + i) : hn::Zero(d);
      into[i] = hn::Zero(d);
    }
    for (size_t m = 1; m < k; ++m) {
      const V weight = rows_.get(m, k);
      const double* g = g_.at(m, tile);
      V out_of = out_of_.get(m);
      for (size_t four = 0; four < kReverseTile; four += kFour) {
        V v[kFour];
        for (size_t i = 0; i < kFour; ++i) {
          v[i] = hn::Load(d, g + (four + i) * kLanes);
          into[four + i] = hn::MulAdd(weight, v[i], into[four + i]);
        }
        const V even = hn::MulAdd(share[four + 2], v[2], hn::MulAdd(share[four], v[0], out_of));
        const V odd = hn::MulAdd(share[four + 3], v[3], hn::Mul(share[four + 1], v[1]));
        out_of = hn::Add(even, odd);
      }
      out_of_.set(m, out_of);
    }
    for (size_t four = 0; four < kReverseTile; four += kFour) {
      V sum = hn::Zero(d);
      for (size_t i = four; i < four + kFour; ++i) {
        into_.set(tile + i, into[i]);
        sum = hn::MulAdd(share[i], into[i], sum);
      }
      expected = hn::Add(expected, sum);
    }
    return expected;
  }

  const Cells rows_;
  const NodeVectors& inverse_;
  size_t n_;
  bool single_;
  const Cells g_;
  NodeVectors into_;
  NodeVectors out_of_;
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_REVERSE_LANES_INL_H_
