// SPDX-License-Identifier: Apache-2.0
//
// The elimination of sentences side by side. Included once per target; see core/simd-inl.h for the
// guard.
//
// Every lane gets the bits that factor() of src/eliminate would give it: each number goes through
// the same operations in the same order. Only operations on different numbers are arranged in
// another way: within a group of eight words, a row takes up the effects of all words after it at
// once, so that its numbers stay in registers.
#if defined(TAPROOT_LANES_ELIMINATE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_LANES_ELIMINATE_LANES_INL_H_
#undef TAPROOT_LANES_ELIMINATE_LANES_INL_H_
#else
#define TAPROOT_LANES_ELIMINATE_LANES_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "lanes/cells-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// The vectors of eight nodes.
struct Tile {
  V v[kBlock];
};

HWY_INLINE Tile zero_tile() {
  Tile t;
  for (size_t i = 0; i < kBlock; ++i) t.v[i] = hn::Zero(D());
  return t;
}
HWY_INLINE Tile load_tile(const double* p) {
  Tile t;
  for (size_t i = 0; i < kBlock; ++i) t.v[i] = hn::Load(D(), p + i * kLanes);
  return t;
}
HWY_INLINE void store_tile(const Tile& t, double* p) {
  for (size_t i = 0; i < kBlock; ++i) hn::Store(t.v[i], D(), p + i * kLanes);
}
// sum[i] += t[i] for i from `first` to end - 1.
HWY_INLINE void add_tile(Tile& sum, const Tile& t, size_t first = 0, size_t end = kBlock) {
  for (size_t i = 0; i < kBlock; ++i) {
    if (i >= first && i < end) sum.v[i] = hn::Add(sum.v[i], t.v[i]);
  }
}
// The sum of eight vectors in the order of sum(Block).
template <typename Vector>
HWY_INLINE Vector sum_of_eight(const Vector* v) {
  const Vector even = hn::Add(hn::Add(v[0], v[4]), hn::Add(v[2], v[6]));
  const Vector odd = hn::Add(hn::Add(v[1], v[5]), hn::Add(v[3], v[7]));
  return hn::Add(even, odd);
}
HWY_INLINE V sum(const Tile& t) { return sum_of_eight(t.v); }

// A triangle of at most eight words.
struct Triangle {
  HWY_ALIGN double data[kBlock * kBlock * kLanes];

  V get(size_t l, size_t c) const { return hn::Load(D(), data + (l * kBlock + c) * kLanes); }
  void set(size_t l, size_t c, V value) { hn::Store(value, D(), data + (l * kBlock + c) * kLanes); }
};

class LaneElimination {
 public:
  // Eliminates the words n, n-1, ..., 2 of `matrix` in place, like factor(). The shares go to the
  // cells (k, h) of `shares` with h < k. These may be the same cells, if only the pivots count.
  LaneElimination(const Cells& matrix, const Cells& shares, size_t n, bool single,
                  NodeVectors& pivot, NodeVectors& inverse)
      : a_(matrix),
        shares_(shares),
        n_(n),
        first_head_(single ? 1 : 0),
        pivot_(pivot),
        inverse_(inverse) {}

  HWY_INLINE void run() {
    for (size_t end = n_ + 1; end > 0;) {
      const size_t begin = (end - 1) / kBlock * kBlock;
      if (end <= n_) absorb_groups(begin, end);
      eliminate_group(begin, end);
      if (begin > 0) invert_triangle(begin, end);
      end = begin;
    }
  }

 private:
  double* share(size_t k, size_t h) { return shares_.at(k, h); }

  HWY_NOINLINE void eliminate_group(size_t begin, size_t end) {
    // Of the row before: its sum over the heads below it but one, and one over its pivot.
    V own = hn::Zero(D());
    V inverse = hn::Zero(D());
    for (size_t m = end - 1; m >= std::max<size_t>(begin, 1); --m) {
      Sums sums = finish_row(m, begin, end);
      if (m == 1) {
        sums.pivot = a_.get(1, 0);
      } else if (m + 1 < end) {
        sums.pivot = hn::MulAdd(a_.get(m, m + 1), hn::Mul(own, inverse), sums.pivot);
      }
      own = sums.own;
      inverse = hn::Div(hn::Set(D(), 1.0), sums.pivot);
      pivot_.set(m, sums.pivot);
      inverse_.set(m, inverse);
      if (m > 1) divide_row(m, inverse);
    }
  }

  // Sums of a row of the group, as in Elimination::Ahead of factor.cc.
  struct Sums {
    V pivot;  // Over the heads below m, before the word after m is added (if it is in the group).
    V own;    // Over the heads below m-1, when the row is finished.
  };

  // Adds to row m what the group's words after m, which are eliminated before it, leave there.
  HWY_INLINE Sums finish_row(size_t m, size_t begin, size_t end) {
    const size_t i_m = m - begin;
    Tile mine = load_tile(a_.at(m, begin));
    Tile before = mine;
    finish_tile<kBlock - 1>(i_m, begin, end, mine, before);
    store_tile(mine, a_.at(m, begin));
    Tile pivot_sum = zero_tile();
    Tile own_sum = zero_tile();
    for (size_t j = 0; j < begin; j += kBlock) {
      Tile row = load_tile(a_.at(m, j));
      for (size_t k = end - 1; k > m + 1; --k) add_share(row, a_.get(m, k), k, j);
      add_tile(pivot_sum, row, j == 0 ? first_head_ : 0);
      if (m + 1 < end) add_share(row, a_.get(m, m + 1), m + 1, j);
      store_tile(row, a_.at(m, j));
      add_tile(own_sum, row, j == 0 ? first_head_ : 0);
    }
    const size_t first = begin == 0 ? first_head_ : 0;
    add_tile(pivot_sum, before, first, i_m);
    add_tile(own_sum, mine, first, std::max<size_t>(i_m, 1) - 1);
    return {sum(pivot_sum), sum(own_sum)};
  }

  // Adds the effects of the words of a group to row m within the group's own columns. `before` is
  // the state before the last of them.
  template <size_t kWord>
  HWY_INLINE void finish_tile(size_t i_m, size_t begin, size_t end, Tile& mine, Tile& before) {
    if constexpr (kWord > 0) {
      if (kWord > i_m && begin + kWord < end) {
        if (kWord == i_m + 1) before = mine;
        const double* shares = share(begin + kWord, begin);
        for (size_t i = 0; i < kWord; ++i) {
          mine.v[i] = hn::MulAdd(mine.v[kWord], hn::Load(D(), shares + i * kLanes), mine.v[i]);
        }
      }
      finish_tile<kWord - 1>(i_m, begin, end, mine, before);
    }
  }

  HWY_INLINE void add_share(Tile& row, V weight, size_t k, size_t j) {
    const double* shares = share(k, j);
    for (size_t i = 0; i < kBlock; ++i) {
      row.v[i] = hn::MulAdd(weight, hn::Load(D(), shares + i * kLanes), row.v[i]);
    }
  }

  // The shares of m: its row over its pivot.
  HWY_INLINE void divide_row(size_t m, V inverse) {
    for (size_t h = 0; h < m; ++h) {
      hn::Store(hn::Mul(a_.get(m, h), inverse), D(), share(m, h));
    }
  }

  // M of the group's words, as in Elimination::eliminate_group() of factor.cc: M[l][c] for c < l.
  // The diagonal is 1.
  HWY_NOINLINE void invert_triangle(size_t begin, size_t end) {
    Triangle& m = inverses_[begin / kBlock - 1];
    for (size_t l = 1; l < end - begin; ++l) {
      for (size_t c = 0; c < l; ++c) {
        V x = hn::Load(D(), share(begin + l, begin + c));
        for (size_t j = c + 1; j < l; ++j) {
          x = hn::MulAdd(hn::Load(D(), share(begin + l, begin + j)), m.get(j, c), x);
        }
        m.set(l, c, x);
      }
    }
  }

  // Adds the effects of the groups after `end` to the rows of a group.
  HWY_NOINLINE void absorb_groups(size_t begin, size_t end) {
    size_t m = std::max<size_t>(begin, 1);
    if (kLanes == 8) {
      for (; m + 1 < end; m += 2) absorb_rows<2>(m, end);
    }
    for (; m < end; ++m) absorb_rows<1>(m, end);
  }

  // Group by group, from the last. The columns x of a group become x M, and all columns before it
  // take up the shares of its words.
  template <size_t kRows>
  HWY_INLINE void absorb_rows(size_t m, size_t end) {
    const size_t top = n_ / kBlock * kBlock;
    for (size_t j = top + kBlock; j > 0;) {
      j -= kBlock;
      Tile row[kRows];
      for (size_t r = 0; r < kRows; ++r) row[r] = load_tile(a_.at(m + r, j));
      for (size_t group = top; group >= end && group > j; group -= kBlock) {
        for (size_t k = group; k < std::min(group + kBlock, n_ + 1); ++k) {
          V weight[kRows];
          for (size_t r = 0; r < kRows; ++r) weight[r] = a_.get(m + r, k);
          const double* shares = share(k, j);
          for (size_t i = 0; i < kBlock; ++i) {
            const V s = hn::Load(D(), shares + i * kLanes);
            for (size_t r = 0; r < kRows; ++r) row[r].v[i] = hn::MulAdd(weight[r], s, row[r].v[i]);
          }
        }
      }
      for (size_t r = 0; r < kRows; ++r) store_tile(row[r], a_.at(m + r, j));
      if (j >= end) {
        for (size_t r = 0; r < kRows; ++r) multiply_columns(m + r, j);
      }
    }
  }

  // Multiplies the row's entries in the columns of a group (eight words) by the group's M.
  HWY_INLINE void multiply_columns(size_t row, size_t begin) {
    const Triangle& m = inverses_[begin / kBlock - 1];
    const size_t size = std::min(kBlock, n_ + 1 - begin);
    if (size == kBlock) {  // With a constant size the compiler keeps the row in registers.
      multiply_columns_by(row, begin, m, kBlock);
    } else {
      multiply_columns_by(row, begin, m, size);
    }
  }
  HWY_INLINE void multiply_columns_by(size_t row, size_t begin, const Triangle& m, size_t size) {
    const Tile b = load_tile(a_.at(row, begin));
    for (size_t c = 0; c < size; ++c) {
      V same = b.v[c];  // The sums over l = c, c + 2, ... and l = c + 1, c + 3, ...
      V other = hn::Zero(D());
      for (size_t l = c + 1; l < size; l += 2) other = hn::MulAdd(b.v[l], m.get(l, c), other);
      for (size_t l = c + 2; l < size; l += 2) same = hn::MulAdd(b.v[l], m.get(l, c), same);
      a_.set(row, begin + c, hn::Add(same, other));
    }
  }

  const Cells a_;
  const Cells shares_;
  size_t n_;
  size_t first_head_;  // The first head that counts in a pivot.
  NodeVectors& pivot_;
  NodeVectors& inverse_;
  Triangle inverses_[(kMostNodes - 1) / kBlock];  // Of the groups but the one with ROOT.
};

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_LANES_ELIMINATE_LANES_INL_H_
