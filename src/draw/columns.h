// SPDX-License-Identifier: Apache-2.0
//
// Where words stand in a terminal: columns of one long line, cut into blocks that fit its width.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "draw/arcs.h"

namespace taproot::detail {

/// Columns [begin, end) are drawn together.
struct Block {
  std::size_t begin;
  std::size_t end;
  std::size_t first_node;
  std::size_t last_node;  ///< One past it.
};

struct Columns {
  /// By node, ROOT first. Its lines of text: more than one for what is wider than the terminal.
  std::vector<std::vector<std::string>> text;
  std::vector<std::size_t> center;
  std::vector<Block> blocks;
  /// Cells on either side of a block in which lines that go on in the next are numbered; 0 if there
  /// is one block.
  std::size_t margin = 0;

  std::size_t port(int node, Port port) const {
    return center[static_cast<std::size_t>(node)] + static_cast<std::size_t>(port) - 1;
  }
  std::size_t left(const Arc& arc) const {
    return port(arc.left(), arc.head < arc.modifier ? kRight : kMiddle);
  }
  std::size_t right(const Arc& arc) const {
    return port(arc.right(), arc.head < arc.modifier ? kMiddle : kLeft);
  }
};

/// `nodes` are shown texts, ROOT first; `labels` what each arc bears, shown, "" for nothing.
Columns place_columns(std::span<const std::string> nodes, std::span<const Arc> arcs,
                      std::span<const std::string> labels, std::size_t width);

}  // namespace taproot::detail
