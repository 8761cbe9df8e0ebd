// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/conditionals/rows.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

void reduce_by_decided(const Decided* decided, size_t words, size_t ld, size_t count,
                       double* HWY_RESTRICT rows) {
  for (size_t d = 0; d < words; ++d) {
    const Decided& w = decided[d];
    const double* HWY_RESTRICT other = w.row;
    for (size_t r = 0; r < count; ++r) {
      double* HWY_RESTRICT row = rows + r * ld;
      const Block factor = broadcast((row[w.head] - row[w.word]) * w.inverse_p);
      for (size_t b = 0; b < ld; b += kBlock) {
        store(multiply_add(factor, load(other + b), load(row + b)), row + b);
      }
    }
  }
}

void fill_law(const double* HWY_RESTRICT weights, const double* HWY_RESTRICT row,
              const double* HWY_RESTRICT leads_to, size_t i, size_t ld, double* HWY_RESTRICT p) {
  const D d;
  const V own = hn::Set(d, row[i]);
  const V itself = hn::Set(d, static_cast<double>(i));
  for (size_t at = 0; at < ld; at += kLanes) {
    const V difference = hn::Max(hn::Sub(own, hn::LoadU(d, row + at)), hn::Zero(d));
    const auto back = hn::Eq(hn::LoadU(d, leads_to + at), itself);
    const V probability = hn::Mul(hn::LoadU(d, weights + at), difference);
    hn::StoreU(hn::IfThenZeroElse(back, probability), d, p + at);
  }
}

void replace_leads(const double* from, size_t word, double end, size_t ld, double* to) {
  const D d;
  const V old = hn::Set(d, static_cast<double>(word));
  const V now = hn::Set(d, end);
  for (size_t at = 0; at < ld; at += kLanes) {
    const V x = hn::LoadU(d, from + at);
    hn::StoreU(hn::IfThenElse(hn::Eq(x, old), now, x), d, to + at);
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(reduce_by_decided);
HWY_EXPORT(fill_law);
HWY_EXPORT(replace_leads);

void reduce_rows(const Decided* decided, std::size_t words, std::size_t ld, std::size_t count,
                 double* rows) {
  HWY_DYNAMIC_DISPATCH(reduce_by_decided)(decided, words, ld, count, rows);
}

void row_law(const double* weights, const double* row, const double* leads_to, int i,
             std::size_t ld, double* p) {
  HWY_DYNAMIC_DISPATCH(fill_law)(weights, row, leads_to, static_cast<std::size_t>(i), ld, p);
}

void merge_leads(const double* from, int word, double end, std::size_t ld, double* to) {
  HWY_DYNAMIC_DISPATCH(replace_leads)(from, static_cast<std::size_t>(word), end, ld, to);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
