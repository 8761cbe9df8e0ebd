// SPDX-License-Identifier: Apache-2.0
//
// Which trees exist is a matter of the graph of allowed edges, never of arithmetic.
#pragma once

#include <cstdint>

#include "core/buffer.h"
#include "scores/score_table.h"

namespace taproot::detail {

/// Marks and queue of a search over the nodes 0..n.
struct ReachScratch {
  Buffer<std::uint8_t> seen;
  Buffer<std::int32_t> queue;
};

/// Writes last[m] = 1 for the words m (1..n) that may be eliminated last: single-root, those that
/// have a ROOT edge and reach every word through word edges, that is, the possible roots;
/// multi-root, all words if ROOT reaches them all. Returns whether there is one, that is, whether
/// there is a tree. O(n^2).
bool find_last_words(const ScoreTable& table, ReachScratch& scratch, std::uint8_t* last);

/// Whether some tree has the edge head -> modifier: it is allowed, and a possible root (ROOT itself
/// for multi-root) reaches the head without passing through the modifier. `last` as found above.
/// Marks all such heads of one modifier: supported[h] = 1. O(n^2).
void find_supported_heads(const ScoreTable& table, const std::uint8_t* last, int modifier,
                          ReachScratch& scratch, std::uint8_t* supported);

}  // namespace taproot::detail
