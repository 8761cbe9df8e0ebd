// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/host_device.h"

namespace taproot::detail {

/// A slot of an alias table (Walker 1977). A random number below the slot's threshold selects the
/// slot's own index; any other selects its alias. Both are packed into one word, because walks wait
/// for memory: the alias takes the low kAliasBits, the threshold the 53 bits above them.
using AliasSlot = std::uint64_t;
inline constexpr int kAliasBits = 11;
inline constexpr std::uint64_t kAliasMask = (std::uint64_t{1} << kAliasBits) - 1;

/// Larger tables have two words per slot: a threshold of 64 bits, and the alias.
inline constexpr int kMostPacked = 1 << kAliasBits;
TAPROOT_HOST_DEVICE inline int alias_words(int count) { return count <= kMostPacked ? 1 : 2; }

/// Writes slot i, which yields i with probability `share` in [0, 1], and `alias` otherwise.
TAPROOT_HOST_DEVICE inline void set_alias_slot(AliasSlot* slots, int count, std::int32_t i,
                                               double share, std::int32_t alias) {
  const auto other = static_cast<std::uint64_t>(share >= 1 ? i : alias);
  // Convert by way of a signed integer, because converting to an unsigned one takes a branch.
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

/// Fills slots[0 .. count * alias_words(count)) so that i is sampled with probability weights[i] /
/// sum, in O(count) (Vose 1991). Weights must be finite and non-negative, and at least one must be
/// positive. An index of weight 0 is never sampled. `scratch` has room for count doubles, `small`
/// and `large` for count indices each. They may be any types with operator[], because on a device
/// the arrays of several threads are interleaved.
template <typename Weights, typename Shares, typename Indices>
TAPROOT_HOST_DEVICE inline void fill_alias(Weights weights, int count, AliasSlot* slots,
                                           Shares scratch, Indices small, Indices large) {
  double sums[4] = {};  // Four independent sums do not wait for each other.
  const int whole = count - count % 4;
  for (int i = 0; i < whole; i += 4) {
    for (int j = 0; j < 4; ++j) sums[j] += weights[i + j];
  }
  for (int i = whole; i < count; ++i) sums[i - whole] += weights[i];
  const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  // Each index has a share of count slots. A share below 1 leaves room in its slot, which is
  // filled from an index whose share is above 1.
  const double scale = count / sum;
  int small_count = 0;
  int large_count = 0;
  for (int i = 0; i < count; ++i) {
    scratch[i] = weights[i] * scale;
    // Both queues take the index and one keeps it: a branch here would be predicted wrongly half of
    // the time.
    const bool is_small = scratch[i] < 1;
    small[small_count] = i;
    large[large_count] = i;
    small_count += is_small ? 1 : 0;
    large_count += is_small ? 0 : 1;
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
  // Only rounding leaves slots here. They count as full, unless their weight is 0.
  std::int32_t positive = 0;
  while (positive < count && !(weights[positive] > 0)) ++positive;
  while (small_count > 0) {
    const std::int32_t i = small[--small_count];
    set_alias_slot(slots, count, i, weights[i] == 0 ? 0 : 1, positive);
  }
}

/// Samples an index. The high part of bits * count chooses the slot, and the low part is compared
/// with its threshold. Large tables compare a second random number, because too few bits are left.
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
