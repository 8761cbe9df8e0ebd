// SPDX-License-Identifier: Apache-2.0
#include "query/gradient.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "query/gradient.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "core/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Words come back in panels [begin, end). For the words before the panel, the new columns of G
// depend on G's old part alone, and so do the sums gu over them: two matrix products. What is left
// within a panel is done word by word.
class ReversePass {
 public:
  ReversePass(const Factors<double>& f, double* g, double* rest, Scratch& scratch)
      : f_(f), ld_(f.ld), g_(g), rest_(rest) {
    // Wide panels for large n, where the products must not be bound by memory.
    panel_ = f.n >= 256 ? 32 : kBlock;
    sums_ = scratch.panel.resize((panel_ + 1) * ld_ + panel_ * ld_);
    share_ = sums_ + panel_ * ld_;
    shares_ = share_ + ld_;
  }

  void run() {
    const auto n = static_cast<size_t>(f_.n);
    std::fill(g_, g_ + (n + 1) * ld_, 0.0);
    row(1)[0] = 1 / f_.pivot(1);
    for (size_t begin = 0; begin <= n; begin += panel_) {
      const size_t end = std::min(begin + panel_, n + 1);
      if (begin > 0) return_to_old_words(begin, end);
      for (size_t k = std::max<size_t>(begin, 2); k < end; ++k) return_word(k, begin);
    }
  }

 private:
  double* row(size_t m) const { return g_ + m * ld_; }
  const double* into(size_t k) const { return f_.matrix + k * ld_; }
  double inverse_pivot(size_t k) const { return 1 / f_.pivot_data[k]; }

  // G[k][m] for m < begin, k in the panel, and then gu over those m.
  void return_to_old_words(size_t begin, size_t end) {
    const size_t width = end - begin;
    const size_t padded = (width + kBlock - 1) / kBlock * kBlock;
    // shares_[h][k - begin], and zero where the panel is not full.
    for (size_t h = 0; h < end; ++h) {
      std::fill(shares_ + h * panel_, shares_ + h * panel_ + padded, 0.0);
    }
    for (size_t k = begin; k < end; ++k) {
      const double inverse = inverse_pivot(k);
      for (size_t h = 0; h < k; ++h) shares_[h * panel_ + k - begin] = into(k)[h] * inverse;
    }
    add_product(row(1) + begin, ld_, begin - 1, padded, {row(1), ld_, 1}, shares_, panel_, begin);
    for (size_t m = 1; m < begin; ++m) finish_columns(m, begin, width);
    std::fill(sums_, sums_ + width * ld_, 0.0);
    const size_t columns = (end + kBlock - 1) / kBlock * kBlock;
    add_product(sums_, ld_, width, columns, {into(1) + begin, 1, ld_}, row(1), ld_, begin - 1);
  }

  // G[k][m] also takes from the heads of m in the panel that came back before k.
  HWY_INLINE void finish_columns(size_t m, size_t begin, size_t width) {
    double* HWY_RESTRICT x = row(m) + begin;
    const double* HWY_RESTRICT out_of = into(m) + begin;
    for (size_t k = 0; k < width; ++k) {
      // A row of shares_ holds one head's share in each word of the panel: pushed ahead from k.
      if (out_of[k] == 0) x[k] = 0;
      const double* HWY_RESTRICT shares = shares_ + (begin + k) * panel_;
      const Block head = broadcast(x[k]);
      for (size_t j = k / kBlock * kBlock; j < width; j += kBlock) {
        store(multiply_add(head, load(shares + j), load(x + j)), x + j);
      }
    }
  }

  void return_word(size_t k, size_t begin) {
    const double* HWY_RESTRICT weights = into(k);
    const size_t columns = (k + kBlock - 1) / kBlock * kBlock;
    const double inverse = inverse_pivot(k);
    double* HWY_RESTRICT gu = sums_ + (k - begin) * ld_;
    if (begin == 0) std::fill(gu, gu + columns, 0.0);
    for (size_t m = std::max<size_t>(begin, 1); m < k; ++m) {
      const Block weight = broadcast(into(m)[k]);
      const double* HWY_RESTRICT old = row(m);
      for (size_t j = 0; j < columns; j += kBlock) {
        store(multiply_add(weight, load(old + j), load(gu + j)), gu + j);
      }
    }
    Block total = broadcast(0.0);
    for (size_t j = 0; j < columns; j += kBlock) {
      Block share = multiply(load(weights + j), broadcast(inverse));
      if (j + kBlock > k) share = first(k - j, share);
      store(share, share_ + j);
      total = multiply_add(share, load(gu + j), total);
    }
    const double rest = 1 - sum(total);
    if (rest_ != nullptr) rest_[k] = rest;
    double* HWY_RESTRICT target = row(k);
    for (size_t j = 0; j < columns; j += kBlock) {
      const Block value = multiply(add(load(gu + j), broadcast(rest)), broadcast(inverse));
      Block mask = load(weights + j);
      if (j + kBlock > k) mask = first(k - j, mask);
      store(zero_where_zero(mask, value), target + j);
    }
    if (f_.root == RootRule::kSingle) target[0] = weights[0] == 0 ? 0.0 : gu[0] * inverse;
    for (size_t m = std::max<size_t>(begin, 1); m < k; ++m) {
      if (into(m)[k] == 0) continue;
      const double* HWY_RESTRICT old = row(m);
      Block dot = broadcast(0.0);
      for (size_t j = 0; j < columns; j += kBlock) {
        dot = multiply_add(load(share_ + j), load(old + j), dot);
      }
      row(m)[k] = sum(dot);
    }
  }

  const Factors<double>& f_;
  size_t ld_;
  double* g_;
  double* rest_;
  size_t panel_;
  double* sums_;    // [panel][ld]: gu of the panel's words
  double* share_;   // [ld]
  double* shares_;  // [ld][panel]
};

void reverse_pass(const Factors<double>& f, double* g, double* rest, Scratch& scratch) {
  ReversePass(f, g, rest, scratch).run();
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(reverse_pass);

void gradient(const Factors<double>& f, double* gradient, double* rest, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(reverse_pass)(f, gradient, rest, scratch);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
