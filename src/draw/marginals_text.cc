// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"
#include "core/matrix_view.h"
#include "draw/text.h"
#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot {

std::string marginals_text(std::span<const std::string> words, std::span<const double> marginals,
                           const TextOptions& options) {
  using namespace detail;
  require(options.width >= 20, "marginals_text", "the width must be at least 20");
  TextDrawing drawing;
  drawing.arcs = marginal_arcs(marginals, words.size(), options.threshold, {}, options.labels,
                               "marginals_text");
  const int n = side_of(marginals.size());
  drawing.nodes = shown_words(words, node_count(n) - 1);
  drawing.nodes.insert(drawing.nodes.begin(), "ROOT");
  for (const Arc& arc : drawing.arcs) {
    drawing.labels.push_back(arc_text(arc, options.labels, n));
    drawing.weights.push_back(weight_of(arc));
  }
  return draw_text(std::move(drawing), options.width, options.color);
}

}  // namespace taproot
