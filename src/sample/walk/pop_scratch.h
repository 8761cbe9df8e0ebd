// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/buffer.h"

namespace taproot::detail {

/// The memory of popping by colors.
struct PopScratch {
  /// Heads that were drawn ahead, for words that are popped again and again.
  static constexpr std::size_t kAhead = 8;

  Buffer<std::uint32_t> color;   ///< [n+1]: who met a word last; see colors-inl.h.
  Buffer<std::uint64_t> depth;   ///< [n+1]: how many heads each stack has lost.
  Buffer<std::int32_t> list;     ///< [2][n]: the words that lost their heads in this round.
  Buffer<std::int32_t> ahead;    ///< [n+1][kAhead]: heads to come, at the end of each row.
  Buffer<std::uint8_t> waiting;  ///< [n+1]: how many these are.
};

}  // namespace taproot::detail
