// SPDX-License-Identifier: Apache-2.0
#include "draw/columns.h"

#include <algorithm>

#include "draw/words.h"

namespace taproot::detail {
namespace {

constexpr std::size_t kGap = 2;    // Cells between words.
constexpr std::size_t kPorts = 3;  // Cells for the ports of a node, so no word is narrower.

// The cells that a label needs on its arc, with one cell of line on either side.
std::size_t room_for(const std::string& label) { return label.empty() ? 0 : cell_width(label) + 2; }

// Places words one after the other, and begins a new block where the next word would pass `width`.
Columns place(std::span<const std::string> nodes, std::span<const Arc> arcs,
              std::span<const std::string> labels, std::size_t width) {
  Columns columns;
  columns.text.resize(nodes.size());
  columns.center.resize(nodes.size());
  IndexedVector<std::vector<std::size_t>> ending(nodes.size());
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    if (!labels[a].empty()) ending[arcs[a].right()].push_back(a);
  }
  columns.blocks.push_back({0, 0, 0, 0});
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    columns.text[i] = split_cells(nodes[i], width);
    std::size_t cells = kPorts;
    for (const std::string& line : columns.text[i]) cells = std::max(cells, cell_width(line));
    const std::size_t before = (cells - 1) / 2;
    const auto place_from = [&](std::size_t begin, std::size_t block_begin) {
      std::size_t center = begin + before;
      for (const std::size_t a : ending[i]) {
        // The label goes on the part of the arc that lies in this block, unless it has room in an
        // earlier one.
        const std::size_t room = room_for(labels[a]);
        const std::size_t left = columns.left(arcs[a]);
        if (left < block_begin && block_begin - left > room) continue;
        center = std::max(center, std::max(left + 1, block_begin) + room + 1);
      }
      return center;
    };
    Block* block = &columns.blocks.back();
    std::size_t begin = block->end + (i == block->first_node ? 0 : kGap);
    std::size_t center = place_from(begin, block->begin);
    if (i > block->first_node && center + (cells - before) > block->begin + width) {
      const std::size_t cut = block->end + 1;
      block->end = cut;
      columns.blocks.push_back({cut, cut, i, i});
      block = &columns.blocks.back();
      center = std::min(place_from(cut, cut), cut + width - (cells - before));
      center = std::max(center, cut + before);
    }
    columns.center[i] = center;
    block->end = center + (cells - before);
    block->end_node = i + 1;
  }
  return columns;
}

}  // namespace

Columns place_columns(std::span<const std::string> nodes, std::span<const Arc> arcs,
                      std::span<const std::string> labels, std::size_t width) {
  Columns columns = place(nodes, arcs, labels, width);
  if (columns.blocks.size() == 1) return columns;
  const std::size_t margin = std::to_string(arcs.size()).size();
  columns = place(nodes, arcs, labels, width - 2 * margin - 1);
  columns.margin = margin;
  return columns;
}

}  // namespace taproot::detail
