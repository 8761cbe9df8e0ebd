// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/buffer.h"

namespace taproot::detail {

/// The memory of popping one cycle after the other; see cycles-inl.h.
struct PopScratch {
  Buffer<std::uint32_t> high;   ///< Draws of all words at the first depths.
  Buffer<std::uint32_t> ahead;  ///< Draws of single words at greater depths.
  Buffer<std::uint64_t> depth;  ///< [n+1]: how many heads each word has lost.
  Buffer<std::int32_t> color;   ///< [n+1]: the path that led to each word.
};

}  // namespace taproot::detail
