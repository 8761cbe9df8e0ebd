// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/host_device.h"

namespace taproot::detail {

/// A slot of an alias table (Walker 1977) in one word, since walks wait for memory: it yields its
/// own index below a threshold, else its alias. The alias has the low kAliasBits, the threshold the
/// 53 above them.
using AliasSlot = std::uint64_t;
inline constexpr int kAliasBits = 11;
inline constexpr std::uint64_t kAliasMask = (std::uint64_t{1} << kAliasBits) - 1;

/// Tables of more entries have a second word a slot with the alias, and thresholds of 64 bits.
inline constexpr int kMostPacked = 1 << kAliasBits;
TAPROOT_HOST_DEVICE inline int alias_words(int count) { return count <= kMostPacked ? 1 : 2; }

/// Writes slot i: itself with probability share in [0, 1], else alias.
TAPROOT_HOST_DEVICE inline void set_alias_slot(AliasSlot* slots, int count, std::int32_t i,
                                               double share, std::int32_t alias) {
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

/// Fills slots[0 .. count * alias_words(count)) for drawing i with probability weights[i] / sum, in
/// O(count) (Vose 1991). Weights are finite and non-negative, one at least positive; an index of
/// weight 0 is never drawn. `scratch` takes count doubles, `small` and `large` count indices each.
/// All three may be anything that is indexed like a pointer: a device has them interleaved.
template <typename Weights, typename Shares, typename Indices>
TAPROOT_HOST_DEVICE inline void fill_alias(Weights weights, int count, AliasSlot* slots,
                                           Shares scratch, Indices small, Indices large) {
  double sums[4] = {};  // Side by side: one would wait for each addition.
  for (int i = 0; i < count; ++i) sums[i % 4] += weights[i];
  const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  // Shares of a slot; those below 1 are filled up from those above.
  const double scale = count / sum;
  int small_count = 0;
  int large_count = 0;
  for (int i = 0; i < count; ++i) {
    scratch[i] = weights[i] * scale;
    (scratch[i] < 1 ? small[small_count++] : large[large_count++]) = i;
  }
  while (small_count > 0 && large_count > 0) {
    const std::int32_t under = small[--small_count];
    const std::int32_t over = large[large_count - 1];
    set_alias_slot(slots, count, under, scratch[under], over);
    scratch[over] = (scratch[over] + scratch[under]) - 1;
    if (scratch[over] < 1) small[small_count++] = large[--large_count];
  }
  while (large_count > 0) {
    const std::int32_t i = large[--large_count];
    set_alias_slot(slots, count, i, 1, i);
  }
  // Left by rounding: full, unless there is nothing in them.
  std::int32_t positive = 0;
  while (positive < count && !(weights[positive] > 0)) ++positive;
  while (small_count > 0) {
    const std::int32_t i = small[--small_count];
    set_alias_slot(slots, count, i, weights[i] == 0 ? 0 : 1, positive);
  }
}

/// The slot from the high part of bits * count, the place within it from the low part: 53 bits of
/// it or, where there are not that many left, a draw of its own.
template <typename Random>
TAPROOT_HOST_DEVICE inline int sample_alias(const AliasSlot* slots, int count, Random& stream) {
  const WideProduct product = multiply_wide(stream.bits(), static_cast<std::uint64_t>(count));
  const std::uint64_t index = product.high;
  if (count <= kMostPacked) {
    const AliasSlot slot = slots[index];
    return static_cast<int>((product.low | kAliasMask) < (slot | kAliasMask) ? index
                                                                             : slot & kAliasMask);
  }
  const std::uint64_t place = stream.bits();
  return static_cast<int>(place < slots[2 * index] ? index : slots[2 * index + 1]);
}

}  // namespace taproot::detail
