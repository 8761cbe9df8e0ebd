// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/random.h"

namespace taproot::detail {

/// One slot of an alias table (Walker 1977): its own index below the threshold, else the alias.
struct AliasSlot {
  std::uint64_t threshold;
  std::uint32_t alias;
};

/// Fills slots[0..count) for drawing i with probability weights[i] / sum, in O(count) (Vose 1991).
/// Weights are finite and non-negative, one at least positive; an index of weight 0 is never drawn.
/// `scratch` takes count doubles and `work` 2 count indices.
void fill_alias(const double* weights, int count, AliasSlot* slots, double* scratch,
                std::int32_t* work);

/// A slot from the high part of bits * count, the place within it from the low part: 64 bits less
/// log2(count), or, where that would be less than 53, from a draw of its own.
inline int draw_alias(const AliasSlot* slots, int count, Stream& stream) {
  __extension__ using Wider = unsigned __int128;
  const Wider product = static_cast<Wider>(stream.bits()) * static_cast<Wider>(count);
  const auto slot = static_cast<std::uint64_t>(product >> 64);
  auto place = static_cast<std::uint64_t>(product);
  if (count > 2048) place = stream.bits();
  return static_cast<int>(place < slots[slot].threshold ? slot : slots[slot].alias);
}

}  // namespace taproot::detail
