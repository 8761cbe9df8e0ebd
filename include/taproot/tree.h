// SPDX-License-Identifier: Apache-2.0
//
// Trees as heads: checks, scores and the adjacency form.
#pragma once

#include <span>

#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot {

/// Whether following heads leads from every word to ROOT. Heads outside 0..n make it false, and so
/// does an empty array. O(n).
TAPROOT_API bool is_tree(TreeView heads);

/// How many words hang off ROOT.
TAPROOT_API int root_count(TreeView heads);

/// is_tree(), and under RootRule::kSingle exactly one word hangs off ROOT. O(n).
TAPROOT_API bool is_tree(TreeView heads, RootRule root);

/// is_tree(), and for every edge head -> m all words between the two descend from the head; ROOT
/// stands before the first word, so an edge from ROOT asks nothing, but none may cross it. O(n).
TAPROOT_API bool is_projective(TreeView heads);

/// Sum of S[head][modifier] over the edges; -inf if one of them is forbidden or a word is its own
/// head. Throws std::invalid_argument if heads.size() != n or a head is outside 0..n.
TAPROOT_API double score(const ScoreView& scores, TreeView heads);

/// adjacency[h * (n+1) + m] = 1 where h is the head of m, else 0; row-major [n+1][n+1].
/// Throws if a head is outside 0..n or the size is not (n+1)^2.
TAPROOT_API void to_adjacency(TreeView heads, std::span<std::uint8_t> adjacency);

/// The inverse. Throws unless every word has exactly one head; column 0 and the diagonal must be 0.
TAPROOT_API Tree from_adjacency(std::span<const std::uint8_t> adjacency, int n);

}  // namespace taproot
