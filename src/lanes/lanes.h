// SPDX-License-Identifier: Apache-2.0
//
// Short sentences side by side, one per lane of a vector. A single short sentence spends its time
// in the ends of rows, in sums over lanes and in waiting for pivots; side by side there is none of
// that, and no factorization is kept: the next group overwrites the scratch memory of this one.
// This is the entry to the folder, and these are its files:
//   groups.h, .cc       which sentences go together
//   cells-inl.h         matrices with a number of each sentence in every cell, and their way out
//   lanes.cc            the choice of the family, and all trees, with load_lanes-inl.h (scores to
//                       weights), order_lanes-inl.h, eliminate_lanes-inl.h and
//                       reverse_lanes-inl.h
//   chart_lanes.h, .cc  projective trees, with chart_tiles-inl.h, inside_lanes-inl.h and
//                       outside_lanes-inl.h
#pragma once

#include <cstddef>
#include <span>

#include "core/scratch.h"
#include "taproot/scores.h"
#include "taproot/types.h"

namespace taproot::detail {

/// The longest sentences that are worth it. Longer ones do not fit into the first caches side by
/// side.
inline constexpr int kMostLaneWords = 32;

/// How many sentences are answered together. Targets with shorter vectors take them in steps.
inline constexpr std::size_t kLaneGroup = 8;

/// One sentence of a group, and what came out.
struct LaneSentence {
  const ScoreView* scores = nullptr;
  EdgeMatrix marginals = {};  ///< Where to write them, if they are asked for.
  /// False if double's range may not suffice for the gradient (docs/numerics.md: the sentence is
  /// not tame, or its chart fails the first test), or if the scores of all trees are so large that
  /// the exponential needs more digits of ln 2. Then factorize() must answer, and nothing below is
  /// set.
  bool answered = false;
  Outcome outcome = {};
  double log_partition = 0;  ///< If the outcome is ok.
};

/// log Z and, if `marginals`, the marginals of at most kLaneGroup sentences, of 1 to kMostLaneWords
/// words each. Marginals of sentences whose outcome is not ok, or that are not answered, are not
/// written.
///
/// The bits are those of factorize(), log_partition() and taproot::marginals() for each sentence by
/// itself, whatever is in the other lanes.
void answer_in_lanes(std::span<LaneSentence> group, RootRule root, TreeFamily family,
                     bool marginals, Scratch& scratch);

}  // namespace taproot::detail
