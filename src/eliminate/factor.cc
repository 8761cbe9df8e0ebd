// SPDX-License-Identifier: Apache-2.0
#include "eliminate/factor.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eliminate/factor.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Row m holds the weights of m's heads. Eliminating k adds row(m)[k] * share_k to each row m < k,
// where share_k = row(k) / pivot. Words are eliminated in groups of eight, so that the effect of a
// group on the rows above it is one matrix product. For large n, groups form panels likewise.
constexpr size_t kPanel = 64;
constexpr size_t kPanelFrom = 192;
static_assert(kPanel == kMostShares && kPanel % kBlock == 0);

class Elimination {
 public:
  Elimination(double* matrix, size_t ld, bool single, double* pivot, double* panel)
      : matrix_(matrix), ld_(ld), single_(single), pivot_(pivot), panel_(panel) {}

  void run(size_t n) {
    const size_t width = n + 1 >= kPanelFrom ? kPanel : kBlock;
    for (size_t end = n + 1; end > 0;) {
      begin_ = (end - 1) / width * width;
      eliminate_panel(end);
      end = begin_;
    }
    pivot_[1] = row(1)[0];
  }

 private:
  double* row(size_t m) const { return matrix_ + m * ld_; }
  double* share(size_t k) const { return panel_ + (k - begin_) * ld_; }

  // row(m)[columns] += sum over k in [k0, k1) of row(m)[k] * share(k)[columns], for a range of
  // rows.
  HWY_INLINE void update(size_t first_row, size_t last_row, size_t first_column, size_t last_column,
                         size_t k0, size_t k1) {
    if (first_row >= last_row || first_column >= last_column) return;
    add_product(row(first_row) + first_column, ld_, last_row - first_row,
                last_column - first_column, {row(first_row) + k0, ld_, 1}, share(k0) + first_column,
                ld_, k1 - k0);
  }

  void eliminate_panel(size_t end) {
    const size_t panel_end = end;
    while (end > begin_) {
      const size_t group = (end - 1) / kBlock * kBlock;
      eliminate_group(group, end);
      update(1, group, begin_, group, group, end);
      update(std::max<size_t>(begin_, 1), group, 0, begin_, group, end);
      end = group;
    }
    update(1, begin_, 0, begin_, begin_, panel_end);
  }

  // Eliminates the words end-1 .. begin, at most a block of them. It completes their rows and, in
  // the rows above, their columns, which hold the weights out of each word when it was eliminated.
  HWY_INLINE void eliminate_group(size_t begin, size_t end) {
    const size_t first_word = std::max<size_t>(begin, 2);
    if (end - 1 >= first_word) {
      double pivot = sum(head_sums(end - 1, end - 1, begin));
      Ahead ahead{head_sums(end - 1, end - 2, begin), head_sums(end - 2, end - 2, begin)};
      for (size_t k = end - 1; k >= first_word; --k) pivot = eliminate_word(k, begin, pivot, ahead);
    }
    if (begin == 0) return;
    // In a row above, the columns x of the group satisfy x = b + x T, where T, strictly lower
    // triangular, holds the shares within the group. So x = b M with M = I + T M, all non-negative.
    Block m[kBlock];
    const size_t size = end - begin;
    triangle_inverse<true>(
        size, [=, this](size_t l, size_t j) { return share(begin + l)[begin + j]; }, m);
    multiply_rows(row(1) + begin, ld_, begin - 1, m, size);
  }

  // Zeroes the lanes of block j of a row that do not count in a pivot: heads from `end` on and, if
  // single-root, ROOT. The last block of all words of a group is the one at `begin`.
  HWY_INLINE Block counted(Block heads, size_t end, size_t j, size_t begin) const {
    if (j == begin) heads = first(std::max(end, begin) - begin, heads);
    if (j == 0 && single_) heads = without_first(heads);
    return heads;
  }

  // The sums of row m over the heads below `end`, one per lane.
  HWY_INLINE Block head_sums(size_t m, size_t end, size_t begin) const {
    Block total = broadcast(0.0);
    for (size_t j = 0; j <= begin; j += kBlock) {
      total = add(total, counted(load(row(m) + j), end, j, begin));
    }
    return total;
  }

  // Sums prepared one word ahead: the pivot of k-1 is sum(next) + row(k-1)[k] * sum(own) / pivot_k.
  // Short sentences spend their time waiting for one pivot after another, and in this way no sum
  // over lanes depends on the pivot before it.
  struct Ahead {
    Block own;   // Of row k over the heads below k-1.
    Block next;  // Of row k-1 over the same heads, before k's share is added to it.
  };

  // Eliminates k and returns the pivot of k-1.
  HWY_INLINE double eliminate_word(size_t k, size_t begin, double pivot, Ahead& ahead) {
    const double* HWY_RESTRICT into = row(k);
    double* HWY_RESTRICT out = share(k);
    const size_t top = std::max<size_t>(begin, 1);
    pivot_[k] = pivot;
    const double inverse_pivot = 1 / pivot;
    const Block inverse = broadcast(inverse_pivot);
    // The last words of a group have no two words of the group before them. For these, `next` or
    // `after` is a row outside the group that gets weight 0, and the sums ahead are not used.
    double* HWY_RESTRICT next = row(k - 1);
    double* HWY_RESTRICT after = row(k - 2);
    const double next_weight = k - 1 >= top ? next[k] : 0.0;
    const double after_weight = k - 2 >= top ? after[k] : 0.0;
    // sum(ahead.own) is divided by the pivot before it is multiplied. The quotient is at most 1, so
    // the product underflows only where the entry of the matrix that it belongs to would, too.
    const double next_pivot =
        multiply_add(next_weight, sum(ahead.own) * inverse_pivot, sum(ahead.next));
    ahead = {broadcast(0.0), broadcast(0.0)};
    for (size_t j = 0; j <= begin; j += kBlock) {
      Block heads = load(into + j);
      if (j == begin) heads = first(k - begin, heads);
      const Block shares = multiply(heads, inverse);
      store(shares, out + j);
      const Block new_next = multiply_add(broadcast(next_weight), shares, load(next + j));
      const Block new_after = multiply_add(broadcast(after_weight), shares, load(after + j));
      store(new_next, next + j);
      store(new_after, after + j);
      ahead.own = add(ahead.own, counted(new_next, k - 2, j, begin));
      ahead.next = add(ahead.next, counted(new_after, k - 2, j, begin));
    }
    for (size_t m = top; m + 2 < k; ++m) {
      double* HWY_RESTRICT target = row(m);
      const Block weight = broadcast(target[k]);
      for (size_t j = 0; j <= begin; j += kBlock) {
        store(multiply_add(weight, load(out + j), load(target + j)), target + j);
      }
    }
    return next_pivot;
  }

  double* matrix_;
  size_t ld_;
  bool single_;
  double* pivot_;
  double* panel_;
  size_t begin_ = 0;
};

void factor_blocked(double* matrix, size_t ld, size_t n, bool single, double* pivot,
                    double* panel) {
  Elimination(matrix, ld, single, pivot, panel).run(n);
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(factor_blocked);

void factor(double* matrix, std::size_t ld, int n, RootRule root, double* pivot,
            Buffer<double>& shares) {
  HWY_DYNAMIC_DISPATCH(factor_blocked)
  (matrix, ld, static_cast<std::size_t>(n), root == RootRule::kSingle, pivot,
   shares.resize(kMostShares * ld));
}

bool factors_within(const double* matrix, std::size_t ld, int n, double low, double high) {
  for (int m = 1; m <= n; ++m) {
    const double* row = MatrixView(matrix, ld).row(m);
    for (int h = 0; h <= n; ++h) {
      if (h != m && row[h] != 0 && !(row[h] >= low && row[h] <= high)) return false;
    }
  }
  return true;
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
