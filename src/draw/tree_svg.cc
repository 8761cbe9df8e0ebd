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

constexpr int kLowest = 30;     // The height of the lowest arc.
constexpr int kStep = 20;       // From one level to the next, without labels.
constexpr int kLabelStep = 25;  // The same with labels.
constexpr int kRootLine = 26;   // How far an edge from ROOT rises above the arcs.

// The x coordinate of a label on its arc: the middle, or as near to it as possible without touching
// a line that crosses the arc. Only trees with crossing edges or several roots have such lines.
int label_center(const detail::WordLine& line, const Arc& arc, std::span<const Arc> arcs,
                 int label_width) {
  const int from = std::min(line.start(arc), line.at(arc.modifier));
  const int to = std::max(line.start(arc), line.at(arc.modifier));
  std::vector<int> lines;
  for (const Arc& other : arcs) {
    if (other.head != 0 && other.level <= arc.level) continue;
    lines.push_back(line.at(other.modifier));
    if (other.head != 0) lines.push_back(line.start(other));
  }
  std::erase_if(lines, [&](int x) { return x <= from || x >= to; });
  const int middle = (from + to) / 2;
  const int reach = std::max(0, (to - from - label_width) / 2 - 10);
  for (int shift = 0; shift <= reach; shift += 4) {
    for (const int x : {middle - shift, middle + shift}) {
      if (std::none_of(lines.begin(), lines.end(),
                       [&](int at) { return std::abs(at - x) < label_width / 2 + 3; })) {
        return x;
      }
    }
  }
  return middle;
}

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

  const WordLine line = place_words(shown_words(words, heads.size()), arcs, labels);
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
    svg.edge(line, arc, base, height(arc.level), false, options.hints);
  }
  svg.end_group();
  svg.begin_labels();
  for (const Arc& arc : arcs) {
    const std::string* label = labeled ? labels.data() + arc.modifier - 1 : nullptr;
    if (arc.head == 0) {
      const int x = line.at(arc.modifier);
      svg.label(x, kRootTop - 5, "ROOT", " font-weight=\"bold\"");
      if (label != nullptr) svg.label(x + 6, kRootTop + 14, *label, " text-anchor=\"start\"");
    } else if (label != nullptr) {
      const int width = static_cast<int>(std::ceil(kLabelSize * em_width(*label)));
      const int x = label_center(line, arc, arcs, width);
      svg.label(x, base - height(arc.level) - 4, *label,
                " data-m=\"" + std::to_string(arc.modifier) + "\"");
    }
  }
  svg.end_group();
  svg.words(line, base);
  return svg.close();
}

}  // namespace taproot
