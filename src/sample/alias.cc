// SPDX-License-Identifier: Apache-2.0
#include "sample/alias.h"

#include <cmath>

namespace taproot::detail {
namespace {

// Writes slot i: itself with probability share in [0, 1], else alias.
void set_slot(AliasSlot* slots, int count, std::int32_t i, double share, std::int32_t alias) {
  const auto other = static_cast<std::uint64_t>(share >= 1 ? i : alias);
  const std::uint64_t threshold =
      share >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(share * 0x1p64);
  if (count <= kMostPacked) {
    slots[i] = (threshold & ~kAliasMask) | other;
  } else {
    slots[2 * i] = threshold;
    slots[2 * i + 1] = other;
  }
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
    set_slot(slots, count, under, scratch[under], over);
    scratch[over] = (scratch[over] + scratch[under]) - 1;
    if (scratch[over] < 1) small[small_count++] = large[--large_count];
  }
  while (large_count > 0) {
    const std::int32_t i = large[--large_count];
    set_slot(slots, count, i, 1, i);
  }
  // Left by rounding: full, unless there is nothing in them.
  while (small_count > 0) {
    const std::int32_t i = small[--small_count];
    set_slot(slots, count, i, weights[i] == 0 ? 0 : 1, positive);
  }
}

}  // namespace taproot::detail
