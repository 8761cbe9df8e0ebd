// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lanes/lanes.h"
#include "taproot/scores.h"

namespace taproot::detail {

/// Which sentences of a batch are answered side by side. This decides how long the answers take and
/// nothing else: a sentence has the same bits alone and in any group.
class LaneGroups {
 public:
  LaneGroups() = default;
  /// Sentences of 1 to `most_words` words, at most kMostLaneWords, are put into groups of similar
  /// length. A group takes as long as if all of its sentences were as long as the longest, so a
  /// group is only made if that takes less time than its sentences one by one.
  explicit LaneGroups(std::span<const ScoreView> sentences, int most_words = kMostLaneWords);

  /// The sentences that are answered one by one.
  std::span<const std::size_t> single() const { return std::span(sorted_).first(single_); }
  std::size_t count() const;  ///< How many groups there are.
  /// The sentences of a group, longest first: kLaneGroup of them, fewer in the last group.
  std::span<const std::size_t> group(std::size_t g) const;

 private:
  std::vector<std::size_t> sorted_;  // Those that are alone, then the groups, longest first.
  std::size_t single_ = 0;
};

}  // namespace taproot::detail
