// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/buffer.h"

namespace taproot::detail {

/// The memory of a walk whose heads are chosen ahead; see walk_ahead-inl.h.
struct PopScratch {
  Buffer<std::uint32_t> high;    ///< Draws of all words at the first depths.
  Buffer<std::uint32_t> ahead;   ///< Draws of single words at greater depths.
  Buffer<std::uint64_t> taken;   ///< [n+1]: how many heads each word has taken.
  Buffer<std::int32_t> next;     ///< [n+1]: the head that a word takes when it is met next.
  Buffer<std::uint8_t> in_tree;  ///< [n+1]: the nodes that are joined to the tree.
};

}  // namespace taproot::detail
