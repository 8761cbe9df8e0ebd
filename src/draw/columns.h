// SPDX-License-Identifier: Apache-2.0
//
// Places words in a terminal: in columns of one long line, which is cut into blocks that fit the
// terminal's width.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/matrix_view.h"
#include "draw/arcs.h"

namespace taproot::detail {

/// The columns [begin, end) and the nodes [first_node, end_node) that are drawn together.
struct Block {
  std::size_t begin;
  std::size_t end;
  std::size_t first_node;
  std::size_t end_node;
};

struct Columns {
  /// The lines of text of each node, ROOT first. A word that is wider than the terminal has
  /// several.
  std::vector<std::vector<std::string>> text;
  IndexedVector<std::size_t> center;  ///< The column of each node's middle.
  std::vector<Block> blocks;
  /// The number of cells on either side of a block for numbers, by which an arc that goes on in the
  /// next block is found again. 0 if there is only one block.
  std::size_t margin = 0;

  std::size_t port(int node, Port port) const {
    return center[node] + static_cast<std::size_t>(port) - 1;
  }
  std::size_t left(const Arc& arc) const {
    return port(arc.left(), arc.head < arc.modifier ? kRight : kMiddle);
  }
  std::size_t right(const Arc& arc) const {
    return port(arc.right(), arc.head < arc.modifier ? kMiddle : kLeft);
  }
};

/// Places nodes and arcs. `nodes` are the texts to be shown, ROOT first. `labels` has the text on
/// each arc, or "" for none.
Columns place_columns(std::span<const std::string> nodes, std::span<const Arc> arcs,
                      std::span<const std::string> labels, std::size_t width);

}  // namespace taproot::detail
