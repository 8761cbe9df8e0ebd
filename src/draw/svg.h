// SPDX-License-Identifier: Apache-2.0
//
// The pieces of SVG that trees and marginals share.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix_view.h"
#include "draw/arcs.h"

namespace taproot::detail {

// All lengths are in pixels.
inline constexpr double kFontSize = 16;        ///< Of words.
inline constexpr double kLabelSize = 11.5;     ///< The font size of labels.
inline constexpr int kMargin = 8;              ///< Around the drawing.
inline constexpr int kWordDrop = 19;           ///< From the foot of the arcs to the base line.
inline constexpr int kWordFoot = 9;            ///< From the base line to the lower edge.
inline constexpr int kRootTop = kMargin + 14;  ///< Where edges from ROOT begin, below its name.

/// The words and the x coordinates of their centers.
struct WordLine {
  std::vector<std::string> shown;
  IndexedVector<int> center;  ///< [n+1]; the entry of ROOT is not used.
  int width = 0;              ///< Of the whole drawing.

  int at(int word) const { return center[word]; }
  /// The x coordinate at which an arc that is not from ROOT leaves its head.
  int start(const Arc& arc) const;
};

/// Places the words from left to right, with room on the arcs for labels (one per word, or none).
WordLine place_words(std::vector<std::string> shown, std::span<const Arc> arcs,
                     std::span<const std::string> labels);

/// Writes one <svg> element, piece by piece.
class Svg {
 public:
  void raw(std::string_view piece) { text_ += piece; }
  void escaped(std::string_view piece);
  /// Writes a number with at most four significant digits.
  void probability(double value);
  void integer(long long value) { text_ += std::to_string(value); }

  /// Writes the tag, title and style. `base` is the y coordinate at which arcs end.
  void open(const WordLine& line, int base, std::string_view title);
  /// Writes a <path> for an edge. An edge from ROOT goes straight down. Any other rises from its
  /// head to `height` and enters its modifier from above.
  void edge(const WordLine& line, const Arc& arc, int base, int height, bool with_probability,
            bool hint);
  /// Writes `shown` centered at x. `more` holds further attributes, each with a blank before it.
  void label(int x, int y, std::string_view shown, std::string_view more = {});
  void begin_edges(std::string_view stroke_width);
  void begin_labels();
  void end_group() { raw("</g>\n"); }
  void words(const WordLine& line, int base);
  std::string close();
  const std::string& text() const { return text_; }

 private:
  /// Writes a command of a path and its numbers, with as few blanks as possible.
  void numbers(std::string_view command, std::initializer_list<int> values);
  void arc_path(const WordLine& line, const Arc& arc, int base, int height);

  std::string text_;
};

/// The caller's title or, if it is empty, `what` and the words: "Dependency tree: She saw stars".
std::string title_or(const std::string& title, std::string_view what, const WordLine& line);

}  // namespace taproot::detail
