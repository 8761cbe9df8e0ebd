// SPDX-License-Identifier: Apache-2.0
//
// Decides which trees exist by searching the graph of allowed edges, never by arithmetic: a sum of
// weights may round to zero although there is a tree.
#pragma once

#include <cstdint>

#include "core/buffer.h"
#include "scores/score_table.h"

namespace taproot::detail {

/// The marks and the queue of a search over the nodes 0..n.
struct ReachScratch {
  Buffer<std::uint8_t> seen;
  Buffer<std::int32_t> queue;
};

/// Sets last[m] = 1 for the words m in 1..n that may be eliminated last, and 0 for the others.
/// Single-root, these are the possible roots: words with a ROOT edge that reach every word through
/// edges between words. Multi-root, these are all words if ROOT reaches them all. Returns whether
/// there is such a word, which is whether there is a tree. O(n^2).
bool find_last_words(const ScoreTable& table, ReachScratch& scratch, std::uint8_t* last);

/// Sets supported[h] = 1 for the heads h of one modifier whose edge some tree has, and 0 for the
/// others. The edge must be allowed, and a possible root (multi-root: ROOT itself) must reach the
/// head without passing through the modifier. `last` is from find_last_words(). O(n^2).
void find_supported_heads(const ScoreTable& table, const std::uint8_t* last, int modifier,
                          ReachScratch& scratch, std::uint8_t* supported);

}  // namespace taproot::detail
