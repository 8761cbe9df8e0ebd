// SPDX-License-Identifier: Apache-2.0
//
// Short sentences side by side, one per lane of a vector. A single short sentence spends its time
// in the ends of rows, in sums over lanes and in waiting for pivots; side by side there is none of
// that, and nothing but the answers is written to memory.
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
  double log_partition = 0;
  bool answered = false;
};

/// log Z and, if `marginals`, the marginals of at most kLaneGroup sentences, of 1 to
/// kMostLaneWords words each. A sentence is not answered, and its marginals are not written, if it
/// has a bad score, if it has no tree, or if double's range may not suffice for it (it is not
/// tame; see docs/numerics.md). eliminate() tells which.
///
/// Words are eliminated from the last to the second in every sentence. This order has the error
/// bounds of docs/numerics.md, too; but a sentence with forbidden edges in which the first word
/// does not reach all others is not answered. The bits of an answer do not depend on the other
/// sentences of the group, nor on the target as far as it has fused multiply-adds.
void answer_in_lanes(std::span<LaneSentence> group, RootRule root, bool marginals,
                     Scratch& scratch);

}  // namespace taproot::detail
