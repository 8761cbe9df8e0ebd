// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace taproot::detail {

/// How strong a line is drawn.
enum class Weight : std::uint8_t { kNone, kDashed, kLight, kHeavy };

/// One cell of a terminal: the lines that leave it to each side, or a piece of text.
struct Cell {
  enum Side : std::uint8_t { kUp, kDown, kBefore, kAfter };
  std::array<Weight, 4> sides{};
  std::string text;               ///< If not empty, instead of lines.
  bool covered = false;           ///< By the wide character before it.
  Weight weight = Weight::kNone;  ///< Of an arrow head.

  Weight strongest() const;
  bool is_empty() const { return strongest() == Weight::kNone && text.empty() && !covered; }
};

/// The character for a cell; a blank if nothing is in it.
std::string_view box_character(const Cell& cell);

}  // namespace taproot::detail
