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

using detail::Arc;
using detail::Weight;

constexpr int kLowest = 26;           // The height of the lowest arc with a text.
constexpr int kStep = 16;             // From one level to the next.
constexpr int kRootLine = 26;         // How far an edge from ROOT rises above the arcs.
constexpr double kMostOfFaint = 160;  // The height of arcs without texts, if all others are lower.

// Texts keep a little distance from the ends of their arcs. The step leaves room for any number on
// the arc between two words.
constexpr detail::ArcTextStyle kTexts{10.5, 48, 4};

struct Stroke {
  Weight weight;
  const char* width;
};
constexpr Stroke kStrokes[] = {
    {Weight::kDashed, "1.2"}, {Weight::kLight, "1.6"}, {Weight::kHeavy, "2.1"}};

// The arcs of a drawing. Those with texts come first, stacked so that none overlap. Arcs without
// texts have heights that grow with their lengths; there may be hundreds of them, too many to
// stack, so they may overlap.
struct Arrangement {
  std::vector<Arc> arcs;
  std::vector<std::string> texts;  // Of the first arcs.
  int highest = 0;                 // The height of the highest arc.
  double scale = 1;                // Of the heights of arcs without texts.

  int height(const Arc& arc) const {
    if (arc.head == 0) return 0;
    if (arc.level > 0) return kLowest + (arc.level - 1) * kStep;
    return static_cast<int>(scale * by_length(arc));
  }

  // It grows slower than the length, so that long arcs do not make short ones look flat.
  static double by_length(const Arc& arc) {
    const double height = 12 + 24 * std::pow(arc.right() - arc.left(), 0.72);
    return height + (arc.head < arc.modifier ? 0 : 5);  // Separates the arcs of both directions.
  }
};

Arrangement arrange(std::vector<Arc> arcs, int n, const SvgOptions& options) {
  Arrangement made;
  made.arcs = std::move(arcs);
  const auto begin = made.arcs.begin();
  const auto with_text = std::stable_partition(
      begin, made.arcs.end(), [&](const Arc& arc) { return arc.probability >= options.text_from; });
  const auto stacked =
      std::stable_partition(begin, with_text, [](const Arc& arc) { return arc.head != 0; });
  detail::stack({begin, stacked}, detail::node_count(n));
  for (auto arc = begin; arc != with_text; ++arc) {
    made.texts.push_back(detail::arc_text(*arc, options.labels, n));
    made.highest = std::max(made.highest, made.height(*arc));
  }
  double faint = 0;
  for (auto arc = with_text; arc != made.arcs.end(); ++arc) {
    if (arc->head != 0) faint = std::max(faint, Arrangement::by_length(*arc));
  }
  const double most = std::max<double>(made.highest, kMostOfFaint);
  if (faint > most) made.scale = most / faint;
  made.highest = std::max(made.highest, static_cast<int>(std::min(faint, most)));
  return made;
}

std::string edge_attributes(const Arc& arc) {
  return " data-h=\"" + std::to_string(arc.head) + "\" data-m=\"" + std::to_string(arc.modifier) +
         "\"";
}

}  // namespace

std::string marginals_svg(std::span<const std::string> words, std::span<const double> marginals,
                          const SvgOptions& options) {
  using namespace detail;
  require(options.text_from >= 0 && options.text_from <= 1, "marginals_svg",
          "text_from must be in [0, 1]");
  const int n = side_of(marginals.size());
  const Arrangement drawn = arrange(marginal_arcs(marginals, words.size(), options.threshold,
                                                  options.also, options.labels, "marginals_svg"),
                                    n, options);
  const std::size_t with_text = drawn.texts.size();
  const WordLine line = place_words(shown_words(words, node_count(n) - 1),
                                    std::span(drawn.arcs).first(with_text), drawn.texts, kTexts);
  const int base = kRootTop + kRootLine + drawn.highest;

  Svg svg;
  svg.open(line, base, title_or(options.title, "Probabilities of edges:", line));
  for (const Stroke& stroke : kStrokes) {
    svg.begin_edges(stroke.width);
    for (const Arc& arc : drawn.arcs) {
      if (weight_of(arc) != stroke.weight) continue;
      std::string label;
      if (!options.labels.empty()) {
        label =
            shown_text(MatrixView(options.labels.data(), node_count(n))(arc.head, arc.modifier));
      }
      svg.edge(line, arc, base, drawn.height(arc),
               {.probability = true, .label = label, .hint = options.hints});
    }
    svg.end_group();
  }

  std::vector<int> heights;
  for (const Arc& arc : drawn.arcs) heights.push_back(drawn.height(arc));
  const Lines lines(line, std::span(drawn.arcs).first(with_text), heights);
  svg.begin_labels(kTexts.size);
  for (std::size_t a = 0; a < drawn.arcs.size(); ++a) {
    const Arc& arc = drawn.arcs[a];
    const bool asked = !options.labels.empty() && !options.also.empty() &&
                       MatrixView(options.also.data(), node_count(n))(arc.head, arc.modifier) != 0;
    const std::string attributes = edge_attributes(arc);
    if (arc.head == 0) {
      svg.label(line.at(arc.modifier), kRootTop - 5, "ROOT", attributes + " font-weight=\"bold\"");
    }
    if (a >= with_text && !asked) continue;
    const std::string text = a < with_text ? drawn.texts[a] : arc_text(arc, options.labels, n);
    if (arc.head == 0) {
      svg.label(line.at(arc.modifier) + kBesideRoot, kRootTop + 11, text,
                attributes + " text-anchor=\"start\"");
    } else {
      const int x = a < with_text ? lines.text_center(a, kTexts.width(text), kTexts.beside)
                                  : (line.start(arc) + line.at(arc.modifier)) / 2;
      svg.label(x, base - heights[a] - 3, text, attributes);
    }
  }
  svg.end_group();
  svg.words(line, base);
  return svg.close();
}

}  // namespace taproot
