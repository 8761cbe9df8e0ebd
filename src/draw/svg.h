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
inline constexpr double kLabelSize = 11.5;     ///< The font size of labels, and of "ROOT".
inline constexpr int kBesideRoot = 6;          ///< From an edge from ROOT to its text.
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

/// How texts on arcs are set.
struct ArcTextStyle {
  double size;     ///< Of the font.
  int least_step;  ///< Between the centers of words.
  int beside;      ///< What an arc needs on either side of its text.

  int width(std::string_view text) const;
};

/// Places the words from left to right, with room on the arcs for their texts. `texts` has one
/// entry per arc, or none.
WordLine place_words(std::vector<std::string> shown, std::span<const Arc> arcs,
                     std::span<const std::string> texts, const ArcTextStyle& style);

/// The shape of an arc that is not from ROOT: a leg up, a quarter of an ellipse, a horizontal line,
/// and the same down.
struct ArcShape {
  int from;    ///< The x coordinate at the head.
  int to;      ///< The x coordinate at the modifier.
  int height;  ///< Of the horizontal line above the foot.
  int corner;  ///< The width of a corner.
  int turn;    ///< The height of a corner.

  ArcShape(const WordLine& line, const Arc& arc, int height);
  int left() const { return from < to ? from : to; }
  int right() const { return from < to ? to : from; }
  /// How far inside its ends the arc is at a height.
  double inset(double at) const;
};

/// The lines of a drawing, which texts on arcs keep clear of.
class Lines {
 public:
  /// `heights` are those of the arcs; edges from ROOT rise above all of them.
  Lines(const WordLine& line, std::span<const Arc> arcs, std::span<const int> heights);

  /// The x coordinate of a text that is `width` pixels wide and stands on arc `a`: the middle or,
  /// on a long arc, a place near the modifier; or as near to these as possible without touching a
  /// line that crosses the arc, and with `beside` pixels at the ends.
  int text_center(std::size_t a, int width, int beside) const;

 private:
  std::vector<ArcShape> shapes_;
  std::vector<int> of_root_;  // The x coordinates of edges from ROOT.
};

/// What a <path> says about its edge besides its head and modifier.
struct EdgeNotes {
  bool probability = false;
  std::string_view label = {};
  bool hint = true;  ///< Whether it is shown when a pointer rests on the edge.
};

/// Writes one <svg> element, piece by piece.
class Svg {
 public:
  void raw(std::string_view piece) { text_ += piece; }
  void escaped(std::string_view piece);
  /// Writes a number with at most so many significant digits.
  void real(double value, int digits);
  void integer(long long value) { text_ += std::to_string(value); }

  /// Writes the tag, title and style. `base` is the y coordinate at which arcs end.
  void open(const WordLine& line, int base, std::string_view title);
  /// Writes a <path> for an edge. An edge from ROOT goes straight down. Any other rises from its
  /// head to `height` and enters its modifier from above.
  void edge(const WordLine& line, const Arc& arc, int base, int height, const EdgeNotes& notes);
  /// Writes `shown` centered at x. `more` holds further attributes, each with a blank before it.
  void label(int x, int y, std::string_view shown, std::string_view more = {});
  void begin_edges(std::string_view stroke_width);
  void begin_labels(double size);
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
