// SPDX-License-Identifier: Apache-2.0
#include "sample/alias.h"

#include <algorithm>

namespace taproot::detail {
namespace {

// Writes slot i: itself with probability share in [0, 1], else alias.
void set_slot(AliasSlot* slots, int count, std::int32_t i, double share, std::int32_t alias) {
  const auto other = static_cast<std::uint64_t>(share >= 1 ? i : alias);
  // 53 bits by way of a signed number: to an unsigned one there is a branch.
  const std::uint64_t threshold =
      share >= 1 ? ~std::uint64_t{0}
                 : static_cast<std::uint64_t>(static_cast<std::int64_t>(share * 0x1p53)) << 11;
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
  double sums[4] = {};  // Side by side: one would wait for each addition.
  for (int i = 0; i < count; ++i) sums[i % 4] += weights[i];
  const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
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
  const auto positive = static_cast<std::int32_t>(
      std::find_if(weights, weights + count, [](double w) { return w > 0; }) - weights);
  while (small_count > 0) {
    const std::int32_t i = small[--small_count];
    set_slot(slots, count, i, weights[i] == 0 ? 0 : 1, positive);
  }
}

}  // namespace taproot::detail
