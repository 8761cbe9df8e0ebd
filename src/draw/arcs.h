// SPDX-License-Identifier: Apache-2.0
//
// What the drawings have in common: the edges that they show, and how high each one goes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taproot/types.h"

namespace taproot::detail {

struct Arc {
  int head;
  int modifier;
  double probability;
  int level;  ///< From 1; not set for an edge whose height is not stacked.

  int left() const { return head < modifier ? head : modifier; }
  int right() const { return head < modifier ? modifier : head; }
};

/// One arc a word. Throws, in the name of `function`, unless every head is in 0..n and not the word
/// itself, and `words` is 0 or the number of heads.
std::vector<Arc> tree_arcs(TreeView heads, std::size_t words, const char* function);

/// The arcs with a probability of at least `threshold` and more than 0, and those that `also`
/// names, by modifier and then head. Throws as taproot/draw.h says.
std::vector<Arc> marginal_arcs(std::span<const double> marginals, std::size_t words,
                               double threshold, std::span<const std::uint8_t> also,
                               const char* function);

/// The n of a matrix [n+1][n+1] with so many entries; -1 if there is none.
int side_of(std::size_t entries);

/// Where an arc meets a node: out of it to either side, or into it in the middle.
enum Port : int { kLeft = 0, kMiddle = 1, kRight = 2 };
inline Port head_port(const Arc& arc) { return arc.head < arc.modifier ? kRight : kLeft; }

/// Stacks the arcs: those that share any point of the line between their ends get different levels,
/// the shorter one the lower. So no line runs along another, and whatever is written on one stays
/// clear of the others. `nodes` counts ROOT. Returns the highest level, 0 if there are no arcs.
int stack(std::span<Arc> arcs, std::size_t nodes);

}  // namespace taproot::detail
