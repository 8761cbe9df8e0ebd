// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/exact_sum.h"
#include "decode/edge_graph.h"

namespace taproot::detail {

/// The score of a tree, or a difference of such scores, without rounding. `order` breaks ties:
/// every edge has a fixed pseudo-random number, and these are summed like the scores. So the best
/// tree and the second best are unique, except with a chance of about 2^-50 per tie.
struct TreeCost {
  ExactSum score;
  std::uint64_t order = 0;  ///< Modulo 2^64. Differences of trees are far below 2^63.

  void add(const TreeCost& other) {
    score.add(other.score);
    order += other.order;
  }
  void subtract(const TreeCost& other) {
    score.subtract(other.score);
    order -= other.order;
  }

  /// -1, 0 or 1: whether the difference is negative, zero or positive.
  int sign() const {
    if (score.sign() != 0) return score.sign();
    const auto difference = static_cast<std::int64_t>(order);
    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
  }
};

/// The pseudo-random number of an edge, which has 50 bits: the mixer of SplitMix64.
TAPROOT_HOST_DEVICE inline std::uint64_t order_of(Edge edge) {
  std::uint64_t x =
      static_cast<std::uint64_t>(edge.head) << 32 | static_cast<std::uint32_t>(edge.modifier);
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return (x ^ x >> 31) >> 14;
}

}  // namespace taproot::detail
