// SPDX-License-Identifier: Apache-2.0
#include "draw/box.h"

#include <algorithm>

namespace taproot::detail {
namespace {

// Indexed by the sides that have a line: up is bit 0, down bit 1, before bit 2, after bit 3.
constexpr std::array<std::string_view, 16> kLightBox = {" ", "│", "│", "│", "─", "╯", "╮", "┤",
                                                        "─", "╰", "╭", "├", "─", "┴", "┬", "┼"};
constexpr std::array<std::string_view, 16> kHeavyBox = {" ", "┃", "┃", "┃", "━", "┛", "┓", "┫",
                                                        "━", "┗", "┏", "┣", "━", "┻", "┳", "╋"};

}  // namespace

Weight Cell::strongest() const {
  return std::max(weight, *std::max_element(sides.begin(), sides.end()));
}

std::string_view box_character(const Cell& cell) {
  if (!cell.text.empty()) return cell.text;
  std::size_t which = 0;
  for (std::size_t side = 0; side < 4; ++side) {
    if (cell.sides[side] != Weight::kNone) which |= std::size_t{1} << side;
  }
  const Weight weight = cell.strongest();
  if (which == 15) {  // Two lines cross, and each keeps its own weight.
    const bool upright = cell.sides[Cell::kUp] == Weight::kHeavy;
    const bool level = cell.sides[Cell::kBefore] == Weight::kHeavy;
    if (upright != level) return upright ? "╂" : "┿";
  }
  if (weight == Weight::kHeavy) return kHeavyBox[which];
  if (weight == Weight::kDashed && which != 0) {
    if ((which & 12U) == 0) return "┆";
    if ((which & 3U) == 0) return "┄";
  }
  return kLightBox[which];
}

}  // namespace taproot::detail
