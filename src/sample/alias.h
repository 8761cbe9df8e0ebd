// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/random.h"

namespace taproot::detail {

/// A slot of an alias table (Walker 1977) in one word, since walks wait for memory: it yields its
/// own index below a threshold, else its alias. The alias has the low kAliasBits, the threshold the
/// 53 above them.
using AliasSlot = std::uint64_t;
inline constexpr int kAliasBits = 11;
inline constexpr std::uint64_t kAliasMask = (std::uint64_t{1} << kAliasBits) - 1;

/// Tables of more entries have a second word a slot with the alias, and thresholds of 64 bits.
inline constexpr int kMostPacked = 1 << kAliasBits;
inline int alias_words(int count) { return count <= kMostPacked ? 1 : 2; }

/// Fills slots[0 .. count * alias_words(count)) for drawing i with probability weights[i] / sum, in
/// O(count) (Vose 1991). Weights are finite and non-negative, one at least positive; an index of
/// weight 0 is never drawn. `scratch` takes count doubles and `work` 2 count + 2
/// indices.
void fill_alias(const double* weights, int count, AliasSlot* slots, double* scratch,
                std::int32_t* work);

/// The slot from the high part of bits * count, the place within it from the low part: 53 bits of
/// it or, where there are not that many left, a draw of its own.
inline int draw_alias(const AliasSlot* slots, int count, Stream& stream) {
  __extension__ using Wider = unsigned __int128;
  const Wider product = static_cast<Wider>(stream.bits()) * static_cast<Wider>(count);
  const auto index = static_cast<std::uint64_t>(product >> 64);
  if (count <= kMostPacked) {
    const AliasSlot slot = slots[index];
    const auto place = static_cast<std::uint64_t>(product);
    return static_cast<int>((place | kAliasMask) < (slot | kAliasMask) ? index : slot & kAliasMask);
  }
  const std::uint64_t place = stream.bits();
  return static_cast<int>(place < slots[2 * index] ? index : slots[2 * index + 1]);
}

}  // namespace taproot::detail
