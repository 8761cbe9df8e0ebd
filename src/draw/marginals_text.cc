// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "core/matrix_view.h"
#include "draw/text.h"
#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot {
namespace {

// A probability in percent. "100%" is only shown for certainty and "0%" only for 0, so numbers that
// round to these are shown as ">99%" and "<1%".
std::string percent(double p) {
  const auto whole = std::lround(100 * p);
  if (whole == 0 && p > 0) return "<1%";
  if (whole == 100 && p < 1 - 1e-9) return ">99%";
  return std::to_string(whole) + "%";
}

}  // namespace

std::string marginals_text(std::span<const std::string> words, std::span<const double> marginals,
                           const TextOptions& options) {
  using namespace detail;
  require(options.labels.empty(), "marginals_text", "labels are for trees");
  require(options.width >= 20, "marginals_text", "the width must be at least 20");
  TextDrawing drawing;
  drawing.arcs = marginal_arcs(marginals, words.size(), options.threshold, {}, "marginals_text");
  drawing.nodes = shown_words(words, node_count(side_of(marginals.size())) - 1);
  drawing.nodes.insert(drawing.nodes.begin(), "ROOT");
  for (const Arc& arc : drawing.arcs) {
    drawing.labels.push_back(percent(arc.probability));
    drawing.weights.push_back(arc.probability >= 0.75   ? Weight::kHeavy
                              : arc.probability >= 0.25 ? Weight::kLight
                                                        : Weight::kDashed);
  }
  return draw_text(std::move(drawing), options.width, options.color);
}

}  // namespace taproot
