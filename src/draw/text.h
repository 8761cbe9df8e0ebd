// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "draw/arcs.h"
#include "draw/box.h"

namespace taproot::detail {

/// A drawing for a terminal: the nodes, ROOT first, and arcs between them, each with a label (""
/// for none) and a weight.
struct TextDrawing {
  std::vector<std::string> nodes;
  std::vector<Arc> arcs;
  std::vector<std::string> labels;
  std::vector<Weight> weights;
};

std::string draw_text(TextDrawing drawing, std::size_t width, bool color);

}  // namespace taproot::detail
