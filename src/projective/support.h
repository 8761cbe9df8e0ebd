// SPDX-License-Identifier: Apache-2.0
//
// Decides which projective trees exist from the allowed edges alone, never by arithmetic on
// weights: these may round to zero although there is a tree.
#pragma once

#include "projective/fill_chart.h"

namespace taproot::detail {

/// Whether the allowed edges have a projective tree under the root rule. O(n^3).
bool has_projective_tree(const ScoreTable& table, ProjectiveScratch& scratch);

/// Sets supported[h * (n+1) + m] = 1 for the edges that some projective tree has, and 0 for the
/// others. O(n^3).
void find_projective_support(const ScoreTable& table, ProjectiveScratch& scratch,
                             std::uint8_t* supported);

}  // namespace taproot::detail
