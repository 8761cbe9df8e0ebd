// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/host_device.h"

namespace taproot::detail {

/// An alias table (Walker 1977). A random number below the threshold of slot i selects i; any other
/// selects the slot's alias. A table lies in planes of 32-bit words, one word per slot in each: the
/// first 32 bits decide nearly always, and code that waits for memory then touches half of it.
/// Up to kMostPacked slots, `first` has the alias in its low kAliasBits and above it the top 21 of
/// the 53 bits of the threshold, and `rest` the 32 bits below. Larger tables have thresholds of 64
/// bits, in `first` and `rest`, and a plane of their own for the alias.
template <typename Word>
struct AliasPlanes {
  Word* first;
  Word* rest;
  Word* alias;  ///< Only beyond kMostPacked.
};
using AliasTable = AliasPlanes<const std::uint32_t>;

inline constexpr int kAliasBits = 11;
inline constexpr std::uint32_t kAliasMask = (std::uint32_t{1} << kAliasBits) - 1;
inline constexpr int kMostPacked = 1 << kAliasBits;
TAPROOT_HOST_DEVICE constexpr int alias_planes(int count) { return count <= kMostPacked ? 2 : 3; }

/// The table of `count` entries at `offset` in planes of `size` words that follow each other.
template <typename Word, typename Size>
TAPROOT_HOST_DEVICE AliasPlanes<Word> alias_planes_at(Word* planes, int count, Size size,
                                                      Size offset) {
  return {planes + offset, planes + size + offset,
          count <= kMostPacked ? nullptr : planes + 2 * size + offset};
}

/// Writes slot i, which yields i with probability `share` in [0, 1], and `alias` otherwise.
TAPROOT_HOST_DEVICE inline void set_alias_slot(const AliasPlanes<std::uint32_t>& planes, int count,
                                               std::int32_t i, double share, std::int32_t alias) {
  const auto other = static_cast<std::uint32_t>(share >= 1 ? i : alias);
  // Convert by way of a signed integer, because converting to an unsigned one takes a branch.
  const std::uint64_t threshold =
      share >= 1 ? (std::uint64_t{1} << 53) - 1
                 : static_cast<std::uint64_t>(static_cast<std::int64_t>(share * 0x1p53));
  if (count <= kMostPacked) {
    planes.first[i] = static_cast<std::uint32_t>(threshold >> 32) << kAliasBits | other;
    planes.rest[i] = static_cast<std::uint32_t>(threshold);
  } else {
    const std::uint64_t shifted = share >= 1 ? ~std::uint64_t{0} : threshold << 11;
    planes.first[i] = static_cast<std::uint32_t>(shifted >> 32);
    planes.rest[i] = static_cast<std::uint32_t>(shifted);
    planes.alias[i] = other;
  }
}

/// Fills a table so that i is sampled with probability weights[i] / sum, in O(count) (Vose 1991).
/// Weights must be finite and non-negative, and at least one must be positive. An index of weight 0
/// is never sampled. `scratch` has room for count doubles, `small` and `large` for count indices
/// each. They may be any types with operator[], because on a device the arrays of several threads
/// are interleaved.
template <typename Weights, typename Shares, typename Indices>
TAPROOT_HOST_DEVICE inline void fill_alias(Weights weights, int count,
                                           const AliasPlanes<std::uint32_t>& planes, Shares scratch,
                                           Indices small, Indices large) {
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
    set_alias_slot(planes, count, under, scratch[under], over);
    scratch[over] = (scratch[over] + scratch[under]) - 1;
    if (scratch[over] < 1) small[small_count++] = large[--large_count];
  }
  while (large_count > 0) {
    const std::int32_t i = large[--large_count];
    set_alias_slot(planes, count, i, 1, i);
  }
  // Only rounding leaves slots here. They count as full, unless their weight is 0.
  std::int32_t positive = 0;
  while (positive < count && !(weights[positive] > 0)) ++positive;
  while (small_count > 0) {
    const std::int32_t i = small[--small_count];
    set_alias_slot(planes, count, i, weights[i] == 0 ? 0 : 1, positive);
  }
}

/// The index that 64 random bits select. The high part of bits * count chooses the slot, and the
/// low part is compared with its threshold. Large tables compare a second random number, place(),
/// because too few bits are left.
template <typename Place>
TAPROOT_HOST_DEVICE inline int choose_alias(const AliasTable& table, int count, std::uint64_t bits,
                                            Place place) {
  const WideProduct product = multiply_wide(bits, static_cast<std::uint64_t>(count));
  const std::uint64_t index = product.high;
  const std::uint32_t first = table.first[index];
  const std::uint64_t rest = table.rest[index];
  if (count <= kMostPacked) {
    const std::uint64_t threshold = static_cast<std::uint64_t>(first >> kAliasBits) << 32 | rest;
    return static_cast<int>(product.low >> 11 < threshold ? index : first & kAliasMask);
  }
  const std::uint64_t threshold = static_cast<std::uint64_t>(first) << 32 | rest;
  return static_cast<int>(place() < threshold ? index : table.alias[index]);
}

/// The same from the high half of the bits alone, for tables of at most kMostPacked entries; -1
/// where the low half decides. The low part of bits * count is in [low, low + count) * 2^32, so its
/// top 21 bits are `top` or, by a carry, top + 1.
TAPROOT_HOST_DEVICE inline int choose_alias_by_high(const std::uint32_t* first, int count,
                                                    std::uint32_t high) {
  const std::uint64_t product =
      static_cast<std::uint64_t>(high) * static_cast<std::uint32_t>(count);
  const auto index = static_cast<std::uint32_t>(product >> 32);
  const auto low = static_cast<std::uint32_t>(product);
  const std::uint32_t slot = first[index];
  const std::uint32_t top = low >> 11;
  const std::uint32_t threshold = slot >> kAliasBits;
  // The index itself is open where the low half may carry into it. No branches: half of them would
  // be predicted wrongly, and only once the slot has arrived.
  const std::uint32_t own = 0U - static_cast<std::uint32_t>(top < threshold);
  const std::uint32_t near = static_cast<std::uint32_t>(threshold - top <= 1);
  const std::uint32_t carries =
      static_cast<std::uint32_t>(low >= 0U - static_cast<std::uint32_t>(count));
  return static_cast<int>((index & own) | (slot & kAliasMask & ~own) | (0U - (near | carries)));
}

/// The same for larger tables, from the high halves of the bits and of place().
TAPROOT_HOST_DEVICE inline int choose_large_alias_by_high(const AliasTable& table, int count,
                                                          std::uint32_t high, std::uint32_t place) {
  const std::uint64_t product =
      static_cast<std::uint64_t>(high) * static_cast<std::uint32_t>(count);
  const auto index = static_cast<std::uint32_t>(product >> 32);
  const std::uint32_t threshold = table.first[index];
  const std::uint32_t own = 0U - static_cast<std::uint32_t>(place < threshold);
  const std::uint32_t near = static_cast<std::uint32_t>(place == threshold);
  const std::uint32_t carries = static_cast<std::uint32_t>(static_cast<std::uint32_t>(product) >=
                                                           0U - static_cast<std::uint32_t>(count));
  return static_cast<int>((index & own) | (table.alias[index] & ~own) | (0U - (near | carries)));
}

/// Samples an index with the next numbers of a stream.
template <typename Random>
TAPROOT_HOST_DEVICE inline int sample_alias(const AliasTable& table, int count, Random& stream) {
  return choose_alias(table, count, stream.bits(), [&] { return stream.bits(); });
}

}  // namespace taproot::detail
