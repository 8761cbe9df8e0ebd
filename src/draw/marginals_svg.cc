// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "draw/arcs.h"
#include "draw/svg.h"
#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot {
namespace {

constexpr int kRootLine = 22;

// The height of an arc depends only on its length, so that it stays in place when other arcs appear
// or disappear. It grows slower than the length, so that long arcs do not make short ones look
// flat.
int height_of(const detail::Arc& arc) {
  if (arc.head == 0) return 0;
  const auto height = static_cast<int>(12 + 24 * std::pow(arc.right() - arc.left(), 0.72));
  return height + (arc.head < arc.modifier ? 0 : 5);  // Separates the arcs of both directions.
}

}  // namespace

std::string marginals_svg(std::span<const std::string> words, std::span<const double> marginals,
                          const SvgOptions& options) {
  using namespace detail;
  require(options.labels.empty(), "marginals_svg", "labels are for trees");
  const std::vector<Arc> arcs =
      marginal_arcs(marginals, words.size(), options.threshold, options.also, "marginals_svg");
  const std::size_t n = node_count(side_of(marginals.size())) - 1;
  const WordLine line = place_words(shown_words(words, n), {}, {});
  int above = 0;
  for (const Arc& arc : arcs) above = std::max(above, height_of(arc));
  const int base = kRootTop + kRootLine + above;

  Svg svg;
  svg.open(line, base, title_or(options.title, "Probabilities of edges:", line));
  svg.begin_edges("1.6");
  for (const Arc& arc : arcs) svg.edge(line, arc, base, height_of(arc), true, options.hints);
  svg.end_group();
  svg.begin_labels();
  for (const Arc& arc : arcs) {
    if (arc.head != 0) continue;
    Svg more;
    more.raw(" font-weight=\"bold\" data-h=\"0\" data-m=\"");
    more.integer(arc.modifier);
    more.raw("\" opacity=\"");
    more.probability(arc.probability);
    more.raw("\"");
    svg.label(line.at(arc.modifier), kRootTop - 5, "ROOT", more.text());
  }
  svg.end_group();
  svg.words(line, base);
  return svg.close();
}

}  // namespace taproot
