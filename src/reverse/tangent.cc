// SPDX-License-Identifier: Apache-2.0
#include "reverse/tangent.h"

#include <algorithm>

#include "reverse/reverse_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reverse/tangent.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// The number of rows that one word updates together, so that what belongs to the word is read once
// for all of them. The order of all sums is the same for any number of rows.
constexpr size_t kRowsTogether = kLanes == 8 ? 4 : 2;

// Row k of the tangent holds dA[h][k] until k is eliminated. From then on it holds dshare_k[h] for
// h < k and, for h > k, dA[h][k] as it was when h was eliminated.
class TangentPass {
 public:
  TangentPass(const Factors<double>& f, const double* g, double* da, double* dg,
              Buffer<double>& rows)
      : f_(f), n_(static_cast<size_t>(f.n)), ld_(f.ld), g_(g), da_(da), dg_(dg) {
    dpivot_ = rows.resize(4 * ld_);
    share_ = dpivot_ + ld_;
    dshare_ = share_ + ld_;
    dgu_ = dshare_ + ld_;
  }

  void run() {
    eliminate();
    std::fill(dg_, dg_ + (n_ + 1) * ld_, 0.0);
    dg(1)[0] = -(da(1)[0] * inverse_pivot(1)) * inverse_pivot(1);
    for (size_t k = 2; k <= n_; ++k) return_word(k);
  }

 private:
  const double* into(size_t k) const { return f_.matrix + k * ld_; }
  const double* g(size_t m) const { return g_ + m * ld_; }
  double* da(size_t m) const { return da_ + m * ld_; }
  double* dg(size_t m) const { return dg_ + m * ld_; }
  double inverse_pivot(size_t k) const { return 1 / f_.pivot_data[k]; }
  bool single() const { return f_.root == RootRule::kSingle; }

  // Loads entries j .. j+7 of a row, with zeros in place of the entries from k on.
  static HWY_INLINE Block load_below(size_t k, const double* row, size_t j) {
    const Block b = load(row + j);
    return j + kBlock > k ? first(k - j, b) : b;
  }

  // Goes through the rows from n down. Each row first takes in the words eliminated before it.
  void eliminate() {
    for (size_t end = n_ + 1; end > 1;) {
      const size_t begin = end > kRowsTogether ? end - kRowsTogether : 1;
      if (end - begin == kRowsTogether) {
        for (size_t k = n_; k >= end; --k) take_in<kRowsTogether>(k, begin);
      } else {
        for (size_t k = n_; k >= end; --k) {
          for (size_t m = begin; m < end; ++m) take_in<1>(k, m);
        }
      }
      for (size_t k = end - 1; k >= std::max<size_t>(begin, 2); --k) {
        eliminate_word(k);
        for (size_t m = begin; m < k; ++m) take_in<1>(k, m);
      }
      end = begin;
    }
  }

  void eliminate_word(size_t k) {
    double* HWY_RESTRICT row = da(k);
    Block total = broadcast(0.0);
    for (size_t j = 0; j < k; j += kBlock) {
      const Block b = load_below(k, row, j);
      total = add(total, j == 0 && single() ? without_first(b) : b);
    }
    dpivot_[k] = sum(total);
    const Block inverse = broadcast(inverse_pivot(k));
    const Block minus_dpivot = broadcast(-dpivot_[k]);
    for (size_t j = 0; j < k; j += kBlock) {
      const Block old = load(row + j);
      const Block share = multiply(load(into(k) + j), inverse);
      Block dshare = multiply(multiply_add(share, minus_dpivot, old), inverse);
      if (j + kBlock > k) dshare = add(first(k - j, dshare), without_firsts(k - j, old));
      store(dshare, row + j);
    }
  }

  // dA[h][m] += dA[k][m] share_k[h] + A[k][m] dshare_k[h] for h < k and kRows words m.
  template <size_t kRows>
  HWY_INLINE void take_in(size_t k, size_t m) const {
    const double* weights = into(k);
    const double* dshare = da(k);
    Block by_weight[kRows];
    Block by_dshare[kRows];
    for (size_t i = 0; i < kRows; ++i) {
      by_weight[i] = broadcast(da(m + i)[k] * inverse_pivot(k));
      by_dshare[i] = broadcast(into(m + i)[k]);
    }
    for (size_t j = 0; j < k; j += kBlock) {
      const Block weight = load_below(k, weights, j);
      const Block tangent = load_below(k, dshare, j);
      for (size_t i = 0; i < kRows; ++i) {
        double* row = da(m + i) + j;
        store(multiply_add(by_dshare[i], tangent, multiply_add(by_weight[i], weight, load(row))),
              row);
      }
    }
  }

  void return_word(size_t k) {
    const double inverse = inverse_pivot(k);
    for (size_t j = 0; j < k; j += kBlock) {
      store(multiply(load_below(k, into(k), j), broadcast(inverse)), share_ + j);
      store(load_below(k, da(k), j), dshare_ + j);
      store(broadcast(0.0), dgu_ + j);
    }
    size_t m = 1;
    for (; m + kRowsTogether <= k; m += kRowsTogether) return_to<kRowsTogether>(k, m);
    for (; m < k; ++m) return_to<1>(k, m);
    Block by_dshare = broadcast(0.0);
    Block by_share = broadcast(0.0);
    for (size_t j = 0; j < k; j += kBlock) {
      by_dshare = multiply_add(load(dshare_ + j), load(g(k) + j), by_dshare);
      by_share = multiply_add(load(share_ + j), load(dgu_ + j), by_share);
    }
    const double de = multiply_add(f_.pivot_data[k], sum(by_dshare), sum(by_share));
    const Block minus_dpivot = broadcast(-dpivot_[k]);
    for (size_t j = 0; j < k; j += kBlock) {
      const Block rest = multiply_add(load(g(k) + j), minus_dpivot, load_below(k, dgu_, j));
      const Block value = multiply(add(rest, broadcast(-de)), broadcast(inverse));
      store(j + kBlock > k ? first(k - j, value) : value, dg(k) + j);
    }
    if (single()) dg(k)[0] = multiply_add(g(k)[0], -dpivot_[k], dgu_[0]) * inverse;
  }

  // Computes dG[k][m] for kRows words m, and adds their terms to dgu.
  template <size_t kRows>
  HWY_INLINE void return_to(size_t k, size_t m) const {
    Block by_weight[kRows];
    Block by_tangent[kRows];
    Block with_share[kRows];
    Block with_dshare[kRows];
    for (size_t i = 0; i < kRows; ++i) {
      by_weight[i] = broadcast(into(m + i)[k]);
      by_tangent[i] = broadcast(da(m + i)[k]);
      with_share[i] = broadcast(0.0);
      with_dshare[i] = broadcast(0.0);
    }
    for (size_t j = 0; j < k; j += kBlock) {
      const Block share = load(share_ + j);
      const Block dshare = load(dshare_ + j);
      Block dgu = load(dgu_ + j);
      for (size_t i = 0; i < kRows; ++i) {
        const Block value = load(g(m + i) + j);
        const Block tangent = load(dg(m + i) + j);
        dgu = multiply_add(by_weight[i], tangent, dgu);
        dgu = multiply_add(by_tangent[i], value, dgu);
        with_share[i] = multiply_add(share, tangent, with_share[i]);
        with_dshare[i] = multiply_add(dshare, value, with_dshare[i]);
      }
      store(dgu, dgu_ + j);
    }
    for (size_t i = 0; i < kRows; ++i) dg(m + i)[k] = sum(add(with_share[i], with_dshare[i]));
  }

  const Factors<double>& f_;
  size_t n_;
  size_t ld_;
  const double* g_;
  double* da_;
  double* dg_;
  double* dpivot_;  // [ld]
  double* share_;   // [ld]; this and the next two are of the word that comes back.
  double* dshare_;
  double* dgu_;
};

void tangent_pass(const Factors<double>& f, const double* g, double* da, double* dg,
                  Buffer<double>& rows) {
  TangentPass(f, g, da, dg, rows).run();
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(tangent_pass);

void gradient_tangent(const Factors<double>& f, const double* gradient, double* tangent,
                      double* gradient_tangent, Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(tangent_pass)
  (f, gradient, tangent, gradient_tangent, scratch.get<ReverseScratch>().tangent_rows);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
