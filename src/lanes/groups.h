// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "taproot/scores.h"

namespace taproot::detail {

/// Which sentences of a batch are answered side by side. This depends on the lengths of the
/// sentences alone, so that a batch gives the same bits whatever it was asked before.
struct LaneGroups {
  /// The sentences that are answered side by side, longest first: group g has the kLaneGroup
  /// sentences from g * kLaneGroup on, and the last group the rest.
  std::vector<std::size_t> grouped;
  /// The others, in their order in the batch.
  std::vector<std::size_t> single;

  std::size_t count() const;  ///< How many groups there are.
  std::span<const std::size_t> group(std::size_t g) const;
};

/// Sentences of 1 to kMostLaneWords words are put into groups of similar length. A group takes as
/// long as if all of its sentences were as long as the longest, so a group is only made if that
/// takes less time than its sentences one by one.
LaneGroups group_by_length(std::span<const ScoreView> sentences);

}  // namespace taproot::detail
