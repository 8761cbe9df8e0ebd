// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot::detail {
namespace {

constexpr double kGap = 16;        // Between words.
constexpr double kLeastStep = 38;  // Between their centres; "ROOT" has room in it.
constexpr double kPort = 6;        // From a word's centre to where edges leave it.
constexpr double kArrow = 3.4;     // Half the width of an arrow head.
constexpr double kLabelRoom = 24;  // What an arc needs beside its label.

}  // namespace

double WordLine::start(const Arc& arc) const {
  return at(arc.head) + (arc.head < arc.modifier ? kPort : -kPort);
}

WordLine place_words(std::vector<std::string> shown, std::span<const Arc> arcs,
                     std::span<const std::string> labels) {
  WordLine line;
  line.shown = std::move(shown);
  const std::size_t n = line.shown.size();
  line.center.resize(n + 1);
  // By their right ends: what an arc asks for is settled when its right word is placed.
  std::vector<std::vector<const Arc*>> ending(n + 1);
  for (const Arc& arc : arcs) ending[static_cast<std::size_t>(arc.right())].push_back(&arc);
  double edge = kMargin;  // Where the next word may begin.
  double next = kMargin + kLeastStep / 2;
  double next_root = 0;  // What stands at the top of one edge from ROOT must not reach the next.
  for (std::size_t i = 1; i <= n; ++i) {
    const double half = kFontSize * em_width(line.shown[i - 1]) / 2;
    double x = std::max(edge + half, next);
    double right = half;
    for (const Arc* arc : ending[i]) {
      const auto m = static_cast<std::size_t>(arc->modifier);
      const double label = labels.empty() ? 0 : kLabelSize * em_width(labels[m - 1]);
      if (arc->head == 0) {
        x = std::max(x, next_root);
        right = std::max({half, kLeastStep / 2, label + 6});
      } else if (!labels.empty()) {
        x = std::max(x, line.at(arc->left()) + kPort + kLabelRoom + label);
      }
    }
    x = std::round(x * 10) / 10;
    line.center[i] = x;
    next = x + kLeastStep;
    edge = x + half + kGap;
    next_root = std::max(next_root, x + right + kLeastStep / 2);
    line.width = std::max(line.width, x + std::max(right, kLeastStep / 2) + kMargin);
  }
  line.width = std::ceil(std::max(line.width, 2 * kMargin));
  return line;
}

void Svg::escaped(std::string_view piece) {
  for (const char c : piece) {
    if (c == '&') {
      raw("&amp;");
    } else if (c == '<') {
      raw("&lt;");
    } else if (c == '>') {
      raw("&gt;");
    } else if (c == '"') {
      raw("&quot;");
    } else {
      text_ += c;
    }
  }
}

void Svg::number(double value) {
  char digits[32];
  const double tenths = std::round(value * 10);
  const int behind = std::fmod(tenths, 10) == 0 ? 0 : 1;
  const auto end =
      std::to_chars(digits, digits + sizeof digits, tenths / 10, std::chars_format::fixed, behind);
  text_.append(digits, end.ptr);
}

void Svg::probability(double value) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 4);
  text_.append(digits, end.ptr);
}

void Svg::open(const WordLine& line, double base, std::string_view title) {
  const double height = std::ceil(base + kWordDrop + kWordFoot);
  raw(R"(<svg xmlns="http://www.w3.org/2000/svg" class="taproot" role="img" width=")");
  number(line.width);
  raw("\" height=\"");
  number(height);
  raw("\" viewBox=\"0 0 ");
  number(line.width);
  raw(" ");
  number(height);
  raw("\" direction=\"ltr\" "
      "font-family=\"Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif\"><title>");
  escaped(title);
  // A document of its own has nobody to take its colour from. Inside a page svg is not :root, so
  // that this reaches nothing there.
  raw("</title><style>svg:root{color:#1b1f24;color-scheme:light dark}"
      "@media(prefers-color-scheme:dark){svg:root{color:#e6e9ee}}</style>\n");
}

void Svg::point(std::string_view command, double x, double y) {
  raw(command);
  number(x);
  raw(" ");
  number(y);
}

// A leg up, a quarter of an ellipse, a level line, and the same down. Corners widen with the
// height, so that arcs out of one word part at once.
void Svg::arc_path(const WordLine& line, const Arc& arc, double base, double height) {
  const double side = arc.head < arc.modifier ? 1 : -1;
  const double from = line.start(arc);
  const double to = line.at(arc.modifier);
  const double width = std::abs(to - from);
  const double corner = std::min(width / 2, 10 + 0.16 * height);
  const double turn = std::min(height, 16 + 0.4 * height);  // How far below the top it begins.
  const double top = base - height;
  constexpr double kRound = 0.55;  // Of a circle's Bezier curve.
  point("M", from, base);
  if (turn < height) {
    raw("V");
    number(top + turn);
  }
  point("C", from, top + (1 - kRound) * turn);
  point(" ", from + side * (1 - kRound) * corner, top);
  point(" ", from + side * corner, top);
  if (width > 2 * corner + 0.1) {
    raw("H");
    number(to - side * corner);
  }
  point("C", to - side * (1 - kRound) * corner, top);
  point(" ", to, top + (1 - kRound) * turn);
  point(" ", to, top + turn);
  if (turn < height) {
    raw("V");
    number(base);
  }
}

void Svg::edge(const WordLine& line, const Arc& arc, double base, double height,
               bool with_probability, bool hint) {
  raw("<path data-h=\"");
  integer(arc.head);
  raw("\" data-m=\"");
  integer(arc.modifier);
  if (with_probability) {
    raw("\" data-p=\"");
    probability(arc.probability);
    raw("\" opacity=\"");
    probability(arc.probability);
  }
  raw("\" d=\"");
  const double x = line.at(arc.modifier);
  if (arc.head == 0) {
    point("M", x, kRootTop);
    raw("V");
    number(base);
  } else {
    arc_path(line, arc, base, height);
  }
  point("M", x - kArrow, base - 1.7 * kArrow);
  point("L", x, base);
  point("L", x + kArrow, base - 1.7 * kArrow);
  if (!hint) return raw("\"/>\n");
  raw("\"><title>");
  escaped(arc.head == 0 ? "ROOT" : line.shown[static_cast<std::size_t>(arc.head) - 1]);
  raw(" → ");
  escaped(line.shown[static_cast<std::size_t>(arc.modifier) - 1]);
  if (with_probability) {
    raw(", ");
    probability(arc.probability);
  }
  raw("</title></path>\n");
}

void Svg::label(double x, double y, std::string_view shown, std::string_view more) {
  raw("<text x=\"");
  number(x);
  raw("\" y=\"");
  number(y);
  raw("\"");
  raw(more);
  raw(">");
  escaped(shown);
  raw("</text>\n");
}

void Svg::begin_edges(double stroke_width) {
  raw("<g fill=\"none\" stroke=\"currentColor\" stroke-linecap=\"round\" stroke-linejoin=\"round\" "
      "stroke-width=\"");
  number(stroke_width);
  raw("\">\n");
}

void Svg::begin_labels() {
  raw("<g fill=\"currentColor\" text-anchor=\"middle\" font-size=\"");
  number(kLabelSize);
  raw("\">\n");
}

void Svg::words(const WordLine& line, double base) {
  raw("<g fill=\"currentColor\" text-anchor=\"middle\" font-size=\"");
  number(kFontSize);
  raw("\">\n");
  for (std::size_t i = 1; i <= line.shown.size(); ++i) {
    label(line.center[i], base + kWordDrop, line.shown[i - 1],
          " data-i=\"" + std::to_string(i) + "\"");
  }
  end_group();
}

std::string Svg::close() {
  raw("</svg>\n");
  return std::move(text_);
}

std::string title_or(const std::string& title, std::string_view what, const WordLine& line) {
  if (!title.empty()) return shown_text(title);
  std::string made(what);
  for (const std::string& word : line.shown) made += " " + word;
  return made;
}

}  // namespace taproot::detail
