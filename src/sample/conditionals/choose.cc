// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/choose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sample/conditionals/choose.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "sample/conditionals/choose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

double total_of(const double* weights, size_t ld) {
  Block total = broadcast(0.0);
  for (size_t j = 0; j < ld; j += kBlock) total = add(total, load(weights + j));
  return sum(total);
}

int choose_at(const double* weights, size_t ld, double target) {
  Scan scan{target, 0};
  for (size_t j = 0; j < ld; j += kBlock) {
    const Block block = load(weights + j);
    if (scan.passes(block)) return static_cast<int>(j) + place(block, scan);
  }
  return last_positive(weights, 0, static_cast<int>(ld));
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(total_of);
HWY_EXPORT(choose_at);

double sum_of(const double* weights, std::size_t ld) {
  return HWY_DYNAMIC_DISPATCH(total_of)(weights, ld);
}

Wide sum_of(const Wide* weights, std::size_t ld) {
  Wide total = 0.0;
  for (std::size_t i = 0; i < ld; ++i) total += weights[i];
  return total;
}

int choose(const double* weights, std::size_t ld, double total, Stream& stream) {
  return HWY_DYNAMIC_DISPATCH(choose_at)(weights, ld, stream.uniform() * total);
}

int choose(const Wide* weights, std::size_t ld, const Wide& total, Stream& stream) {
  const Wide target = Wide(stream.uniform()) * total;
  Wide running = 0.0;
  int last = 0;
  for (std::size_t i = 0; i < ld; ++i) {
    if (weights[i].is_zero()) continue;
    last = static_cast<int>(i);
    running += weights[i];
    if (target < running) break;
  }
  return last;
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
