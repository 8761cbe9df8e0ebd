// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/check.h"
#include "draw/arcs.h"
#include "draw/svg.h"
#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot {
namespace {

using detail::Arc;

constexpr int kLowest = 30;     // The height of the lowest arc.
constexpr int kStep = 20;       // From one level to the next, without labels.
constexpr int kLabelStep = 25;  // The same with labels.
constexpr int kRootLine = 26;   // How far an edge from ROOT rises above the arcs.

// Labels keep 12 pixels from the ends of their arcs, where these bend. The step leaves room for
// "ROOT".
constexpr detail::ArcTextStyle kLabels{detail::kLabelSize, 38, 12};

}  // namespace

std::string tree_svg(std::span<const std::string> words, TreeView heads,
                     const SvgOptions& options) {
  using namespace detail;
  std::vector<Arc> arcs = tree_arcs(heads, words.size(), "tree_svg");
  const bool labeled = !options.labels.empty();
  require(!labeled || options.labels.size() == heads.size(), "tree_svg",
          "there must be one label per word, or none");
  std::vector<std::string> labels;
  for (const std::string& label : options.labels) labels.push_back(shown_text(label));

  const WordLine line = place_words(shown_words(words, heads.size()), arcs, labels, kLabels);
  // Edges from ROOT come last and are not stacked, because they are straight lines from above.
  const auto roots =
      std::stable_partition(arcs.begin(), arcs.end(), [](const Arc& arc) { return arc.head != 0; });
  const int highest = stack({arcs.begin(), roots}, heads.size() + 1);
  const auto height = [&](int level) {
    return level == 0 ? 0 : kLowest + (level - 1) * (labeled ? kLabelStep : kStep);
  };
  const int base = kRootTop + kRootLine + height(highest) + (labeled ? 18 : 0);

  Svg svg;
  svg.open(line, base, title_or(options.title, "Dependency tree:", line));
  svg.begin_edges("1.4");
  for (const Arc& arc : arcs) {
    svg.edge(line, arc, base, height(arc.level), {.hint = options.hints});
  }
  svg.end_group();
  std::vector<int> heights;
  for (const Arc& arc : arcs) heights.push_back(height(arc.level));
  const Lines lines(line, arcs, heights);
  svg.begin_labels(kLabelSize);
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    const Arc& arc = arcs[a];
    const std::string* label = labeled ? labels.data() + arc.modifier - 1 : nullptr;
    if (arc.head == 0) {
      const int x = line.at(arc.modifier);
      svg.label(x, kRootTop - 5, "ROOT", " font-weight=\"bold\"");
      if (label == nullptr) continue;
      svg.label(x + kBesideRoot, kRootTop + 14, *label, " text-anchor=\"start\"");
    } else if (label != nullptr) {
      const int x = lines.text_center(a, kLabels.width(*label), 10);
      svg.label(x, base - height(arc.level) - 4, *label,
                " data-m=\"" + std::to_string(arc.modifier) + "\"");
    }
  }
  svg.end_group();
  svg.words(line, base);
  return svg.close();
}

}  // namespace taproot
