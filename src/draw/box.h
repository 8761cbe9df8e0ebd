// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace taproot::detail {

/// The stroke of a line.
enum class Weight : std::uint8_t { kNone, kDashed, kLight, kHeavy };

/// One cell of a terminal: the lines that leave it on each side, or a piece of text.
struct Cell {
  enum Side : std::uint8_t { kUp, kDown, kBefore, kAfter };
  std::array<Weight, 4> sides{};
  std::string text;               ///< If not empty, it is shown in place of lines.
  bool covered = false;           ///< Whether the wide character before it covers this cell.
  Weight weight = Weight::kNone;  ///< The stroke of an arrow head in `text`.

  Weight strongest() const;
  bool is_empty() const { return strongest() == Weight::kNone && text.empty() && !covered; }
};

/// The character for a cell, which is a blank if the cell is empty.
std::string_view box_character(const Cell& cell);

}  // namespace taproot::detail
