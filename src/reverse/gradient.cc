// SPDX-License-Identifier: Apache-2.0
#include "reverse/gradient.h"

#include <algorithm>

#include "eliminate/eliminate_scratch.h"
#include "reverse/reverse_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reverse/gradient.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Words come back in panels [begin, end). For heads k in the panel and modifiers m < begin, G[k][m]
// depends on G among the words before the panel alone, and so does gu summed over these m: both are
// matrix products. The rest of a panel is done word by word.
class ReversePass {
 public:
  ReversePass(const Factors<double>& f, double* g, Buffer<double>& panel)
      : f_(f), ld_(f.ld), g_(g) {
    // For large n, wider panels keep the products from waiting for memory.
    panel_ = f.n >= 256 ? 32 : kBlock;
    double* memory = panel.resize((2 * panel_ + 1) * ld_);
    sums_ = memory;
    heads_ = memory + panel_ * ld_;
    share_ = memory + 2 * panel_ * ld_;
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
  static size_t padded(size_t count) { return (count + kBlock - 1) / kBlock * kBlock; }

  // Computes G[k][m] for m < begin and k in the panel, and then gu summed over these m.
  void return_to_old_words(size_t begin, size_t end) {
    const size_t columns = padded(end - begin);
    transpose_heads(begin, end);
    add_product(row(1) + begin, ld_, begin - 1, columns, {row(1), ld_, 1}, heads_, panel_, begin);
    for (size_t group = begin; group < end; group += kBlock) {
      const size_t size = std::min(kBlock, end - group);
      const size_t offset = group - begin;
      add_product(row(1) + group, ld_, begin - 1, kBlock, {row(1) + begin, ld_, 1},
                  heads_ + begin * panel_ + offset, panel_, offset);
      // The columns x of a group satisfy x = (b + x T) / pivots with T[l][k] = A[l][k]. So x = b M
      // with M = 1/pivots + T/pivots M. All of these are non-negative.
      Block m[kBlock];
      triangle_inverse<false>(
          size,
          [=, this](size_t l, size_t k) {
            return into(group + k)[group + l] * inverse_pivot(group + k);
          },
          m);
      for (size_t l = 0; l < size; ++l) {
        m[l] = multiply(broadcast(inverse_pivot(group + l)), m[l]);
      }
      multiply_rows(row(1) + group, ld_, begin - 1, m, size);
    }
    std::fill(sums_, sums_ + (end - begin) * ld_, 0.0);
    add_product(sums_, ld_, end - begin, padded(end), {into(1) + begin, 1, ld_}, row(1), ld_,
                begin - 1);
  }

  // heads_[h][k - begin] = A[h][k] for h < end, and 0 beyond the last word of the panel.
  void transpose_heads(size_t begin, size_t end) {
    const size_t full = begin + (end - begin) / kSquare * kSquare;
    for (size_t k = begin; k < full; k += kSquare) {
      for (size_t h = 0; h < padded(end); h += kSquare) {
        const double* from[kSquare];
        double* to[kSquare];
        for (size_t s = 0; s < kSquare; ++s) {
          from[s] = into(k + s) + h;
          to[s] = heads_ + (h + s) * panel_ + (k - begin);
        }
        transpose(from, to);
      }
    }
    for (size_t k = full; k < begin + padded(end - begin); ++k) {
      for (size_t h = 0; h < end; ++h) heads_[h * panel_ + k - begin] = k < end ? into(k)[h] : 0.0;
    }
  }

  void return_word(size_t k, size_t begin) {
    const double* HWY_RESTRICT weights = into(k);
    const size_t columns = padded(k);
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
    double* HWY_RESTRICT target = row(k);
    for (size_t j = 0; j < columns; j += kBlock) {
      Block value = multiply(add(load(gu + j), broadcast(rest)), broadcast(inverse));
      if (j + kBlock > k) value = first(k - j, value);
      store(value, target + j);
    }
    if (f_.root == RootRule::kSingle) target[0] = gu[0] * inverse;
    for (size_t m = std::max<size_t>(begin, 1); m < k; ++m) {
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
  size_t panel_;
  double* sums_;   // [panel][ld]: gu of the panel's words.
  double* heads_;  // [ld][panel]
  double* share_;  // [ld]
};

void reverse_pass(const Factors<double>& f, double* g, Buffer<double>& panel) {
  ReversePass(f, g, panel).run();
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(reverse_pass);

void gradient(const Factors<double>& f, double* gradient, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(reverse_pass)(f, gradient, scratch.get<ReverseScratch>().panel);
}

Factors<Wide> wide_factors_of(const FactorData& data, Scratch& scratch) {
  if (data.wide) return data.wide_factors();
  const ScoreTable& table = data.table;
  ReverseScratch& own = scratch.get<ReverseScratch>();
  const MatrixView from(data.matrix.data(), table.ld);
  const MatrixView to(own.wide_matrix.resize(table.size()), table.ld);
  own.wide_pivot.resize(table.ld);
  for (int m = 1; m <= table.n; ++m) {
    // The diagonal of the factors is not defined, and may hold numbers that Wide does not take.
    for (int h = 0; h <= table.n; ++h) to(m, h) = h == m ? Wide(0.0) : Wide(from(m, h));
    own.wide_pivot[m] = data.pivot[m];
  }
  return {table.n, table.root, table.ld, own.wide_matrix.data(), own.wide_pivot.data()};
}

void gradient_of(const FactorData& data, Scratch& scratch) {
  const ScoreTable& table = data.table;
  ReverseScratch& own = scratch.get<ReverseScratch>();
  if (data.tame) {
    double* memory = matrix_memory(data, own.gradient_memory, scratch);
    gradient(data.factors(), memory, scratch);
    own.gradient = memory;
  } else {
    Wide* share = own.wide_rows.resize(2 * table.ld);
    gradient_simply(wide_factors_of(data, scratch), own.wide_gradient.resize(table.size()), share,
                    share + table.ld);
  }
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
