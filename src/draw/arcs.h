// SPDX-License-Identifier: Apache-2.0
//
// What all drawings share: the edges that they show, and the height of each edge.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "draw/box.h"
#include "taproot/types.h"

namespace taproot::detail {

struct Arc {
  int head;
  int modifier;
  double probability;
  int level;  ///< The height, from 1 on, set by stack(). 0 for an edge that is not stacked.

  int left() const { return head < modifier ? head : modifier; }
  int right() const { return head < modifier ? modifier : head; }
};

/// One arc per word. Throws, with a message that names `function`, unless every head is in 0..n and
/// not the word itself, and `words` is 0 or the number of heads.
std::vector<Arc> tree_arcs(TreeView heads, std::size_t words, const char* function);

/// The arcs with a positive probability of at least `threshold`, and those that are not 0 in
/// `also`, sorted by modifier and then by head. `labels` is checked only. Throws as taproot/draw.h
/// says.
std::vector<Arc> marginal_arcs(std::span<const double> marginals, std::size_t words,
                               double threshold, std::span<const std::uint8_t> also,
                               std::span<const std::string> labels, const char* function);

/// The text on an arc of marginals: its label, if `labels` (row-major [n+1][n+1], or empty) has
/// one, and its probability in percent. "100%" stands for certainty and "0%" for 0 alone; numbers
/// that would round to these are ">99%" and "<1%".
std::string arc_text(const Arc& arc, std::span<const std::string> labels, int n);

/// The stroke of an arc of marginals: heavy from 75 percent on, the thinnest below 25.
Weight weight_of(const Arc& arc);

/// The n for which a matrix [n+1][n+1] has this many entries, or -1 if there is none.
int side_of(std::size_t entries);

/// Where an arc meets a node. It leaves its head on the left or right, and enters its modifier in
/// the middle.
enum Port : int { kLeft = 0, kMiddle = 1, kRight = 2 };
inline Port head_port(const Arc& arc) { return arc.head < arc.modifier ? kRight : kLeft; }

/// Gives levels to the arcs. Two arcs whose horizontal extents share a point get different levels,
/// and the shorter one gets the lower. So no line runs along another, and labels have room. `nodes`
/// includes ROOT. Returns the highest level, or 0 if there are no arcs.
int stack(std::span<Arc> arcs, std::size_t nodes);

}  // namespace taproot::detail
