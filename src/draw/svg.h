// SPDX-License-Identifier: Apache-2.0
//
// The pieces of SVG that trees and marginals share.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "draw/arcs.h"

namespace taproot::detail {

/// In pixels, as everything; of words and of labels.
inline constexpr double kFontSize = 16;
inline constexpr double kLabelSize = 11.5;
/// Around the drawing.
inline constexpr int kMargin = 8;
/// From the base of the arcs to the base line of the words, and from there to the lower edge.
inline constexpr int kWordDrop = 19;
inline constexpr int kWordFoot = 9;
/// Where edges from ROOT begin: below the word itself.
inline constexpr int kRootTop = kMargin + 14;

/// Where the words stand. The first entry of `center` is ROOT's, and means nothing.
struct WordLine {
  std::vector<std::string> shown;
  std::vector<int> center;
  int width = 0;

  int at(int word) const { return center[static_cast<std::size_t>(word)]; }
  /// Where an arc that is not from ROOT leaves its head.
  int start(const Arc& arc) const;
};

/// Places the words from left to right, with room for labels (shown, one a word, or none) on the
/// arcs.
WordLine place_words(std::vector<std::string> shown, std::span<const Arc> arcs,
                     std::span<const std::string> labels);

/// One <svg> element, piece by piece.
class Svg {
 public:
  void raw(std::string_view piece) { text_ += piece; }
  void escaped(std::string_view piece);
  /// With at most four digits that count.
  void probability(double value);
  void integer(long long value) { text_ += std::to_string(value); }

  /// The tag, title and style; `base` is where the arcs end and the words begin.
  void open(const WordLine& line, int base, std::string_view title);
  /// A <path> for the edge: from ROOT straight down, else from its head's port over `height` into
  /// its modifier.
  void edge(const WordLine& line, const Arc& arc, int base, int height, bool with_probability,
            bool hint);
  /// `shown` centered at x, with further attributes, from " " on.
  void label(int x, int y, std::string_view shown, std::string_view more = {});
  void begin_edges(std::string_view stroke_width);
  void begin_labels();
  void end_group() { raw("</g>\n"); }
  void words(const WordLine& line, int base);
  std::string close();
  const std::string& text() const { return text_; }

 private:
  /// A command of a path and its numbers, with no more blanks than they need.
  void numbers(std::string_view command, std::initializer_list<int> values);
  void arc_path(const WordLine& line, const Arc& arc, int base, int height);

  std::string text_;
};

/// "Dependency tree: She saw stars", unless the caller has a title.
std::string title_or(const std::string& title, std::string_view what, const WordLine& line);

}  // namespace taproot::detail
