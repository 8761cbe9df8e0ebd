// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scores/score_table.h"

namespace taproot::detail {

/// Whether every tree that the allowed edges have under the root rule is projective. Compares the
/// sums over all trees and over the projective ones of the products of the edges' weights, at
/// pseudo-random weights modulo the prime 2^61 - 1. If some tree is not projective, the two are
/// equal with probability below n 2^-61 (Schwartz 1980). O(n^3).
bool all_trees_are_projective(const ScoreTable& table);

}  // namespace taproot::detail
