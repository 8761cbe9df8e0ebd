// SPDX-License-Identifier: Apache-2.0
#include "sample/alias.h"

#include <cmath>

namespace taproot::detail {
namespace {

constexpr std::uint64_t kAlways = ~std::uint64_t{0};

// share in [0, 1] as a threshold on 64 bits.
std::uint64_t to_threshold(double share) {
  return share >= 1 ? kAlways : static_cast<std::uint64_t>(share * 0x1p64);
}

}  // namespace

void fill_alias(const double* weights, int count, AliasSlot* slots, double* scratch,
                std::int32_t* work) {
  double sum = 0;
  int positive = 0;
  for (int i = 0; i < count; ++i) {
    sum += weights[i];
    if (weights[i] > 0) positive = i;
  }
  // Shares of a slot; those below 1 are filled up from those above.
  const double scale = count / sum;
  std::int32_t* small = work;
  std::int32_t* large = work + count;
  int small_count = 0;
  int large_count = 0;
  for (int i = 0; i < count; ++i) {
    scratch[i] = weights[i] * scale;
    (scratch[i] < 1 ? small[small_count++] : large[large_count++]) = i;
  }
  while (small_count > 0 && large_count > 0) {
    const std::int32_t under = small[--small_count];
    const std::int32_t over = large[large_count - 1];
    slots[under] = {to_threshold(scratch[under]), static_cast<std::uint32_t>(over)};
    scratch[over] = (scratch[over] + scratch[under]) - 1;
    if (scratch[over] < 1) small[small_count++] = large[--large_count];
  }
  while (large_count > 0) {
    const std::int32_t i = large[--large_count];
    slots[i] = {kAlways, static_cast<std::uint32_t>(i)};
  }
  // Left by rounding: full, unless there is nothing in them.
  while (small_count > 0) {
    const std::int32_t i = small[--small_count];
    const bool empty = weights[i] == 0;
    slots[i] = {empty ? 0 : kAlways, static_cast<std::uint32_t>(empty ? positive : i)};
  }
}

}  // namespace taproot::detail
