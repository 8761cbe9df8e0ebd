// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"
#include "draw/text.h"
#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot {

std::string tree_text(std::span<const std::string> words, TreeView heads,
                      const TextOptions& options) {
  using namespace detail;
  TextDrawing drawing;
  drawing.arcs = tree_arcs(heads, words.size(), "tree_text");
  require(options.labels.empty() || options.labels.size() == heads.size(), "tree_text",
          "there must be one label per word, or none");
  require(options.width >= 20, "tree_text", "the width must be at least 20");
  drawing.nodes = shown_words(words, heads.size());
  drawing.nodes.insert(drawing.nodes.begin(), "ROOT");
  drawing.labels.resize(heads.size());
  for (std::size_t i = 0; i < options.labels.size(); ++i) {
    drawing.labels[i] = shown_text(options.labels[i]);
  }
  drawing.weights.assign(heads.size(), Weight::kLight);
  return draw_text(std::move(drawing), options.width, options.color);
}

}  // namespace taproot
