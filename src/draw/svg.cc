// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot::detail {
namespace {

constexpr int kGap = 16;        // Between words.
constexpr int kLeastStep = 38;  // Between the centers of words, so that "ROOT" fits.
constexpr int kPort = 6;        // From a word's center to where edges leave it.
constexpr int kLabelRoom = 24;  // What an arc needs in addition to its label.

}  // namespace

int WordLine::start(const Arc& arc) const {
  return at(arc.head) + (arc.head < arc.modifier ? kPort : -kPort);
}

WordLine place_words(std::vector<std::string> shown, std::span<const Arc> arcs,
                     std::span<const std::string> labels) {
  WordLine line;
  line.shown = std::move(shown);
  const std::size_t n = line.shown.size();
  line.center.resize(n + 1);
  // Arcs by their right ends, because a word is placed with room for all arcs that end at it.
  IndexedVector<std::vector<const Arc*>> ending(n + 1);
  for (const Arc& arc : arcs) ending[arc.right()].push_back(&arc);
  const auto pixels = [](double size, const std::string& text) {
    return static_cast<int>(std::ceil(size * em_width(text)));
  };
  int edge = kMargin;                   // The least x at which the next word may begin.
  int next = kMargin + kLeastStep / 2;  // The least x of its center.
  int next_root = 0;  // The same for a word with an edge from ROOT, so that labels do not overlap.
  for (std::size_t i = 1; i <= n; ++i) {
    const int half = (pixels(kFontSize, line.shown[i - 1]) + 1) / 2;
    int x = std::max(edge + half, next);
    int right = std::max(half, kLeastStep / 2);
    for (const Arc* arc : ending[i]) {
      const int label = labels.empty() ? 0 : pixels(kLabelSize, labels.data()[arc->modifier - 1]);
      if (arc->head == 0) {
        x = std::max(x, next_root);
        right = std::max(right, label + 6);
      } else if (!labels.empty()) {
        x = std::max(x, line.at(arc->left()) + kPort + kLabelRoom + label);
      }
    }
    line.center[i] = x;
    next = x + kLeastStep;
    edge = x + half + kGap;
    next_root = std::max(next_root, x + right + kLeastStep / 2);
    line.width = std::max(line.width, x + right + kMargin);
  }
  line.width = std::max(line.width, 2 * kMargin);
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

void Svg::probability(double value) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 4);
  text_.append(digits, end.ptr);
}

void Svg::open(const WordLine& line, int base, std::string_view title) {
  const int height = base + kWordDrop + kWordFoot;
  raw(R"(<svg xmlns="http://www.w3.org/2000/svg" class="taproot" role="img" width=")");
  integer(line.width);
  raw("\" height=\"");
  integer(height);
  raw("\" viewBox=\"");
  numbers("", {0, 0, line.width, height});
  raw("\" direction=\"ltr\" "
      "font-family=\"Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif\"><title>");
  escaped(title);
  // A file of its own has no page to inherit its color from. Inside a page this style has no
  // effect, because <svg> is not :root there.
  raw("</title><style>svg:root{color:#1b1f24;color-scheme:light dark}"
      "@media(prefers-color-scheme:dark){svg:root{color:#e6e9ee}}</style>\n");
}

void Svg::numbers(std::string_view command, std::initializer_list<int> values) {
  raw(command);
  bool first = true;
  for (const int value : values) {
    if (!first && value >= 0) raw(" ");
    integer(value);
    first = false;
  }
}

// Draws a leg up, a quarter of an ellipse, a horizontal line, and the same down. Corners widen with
// the height, so that arcs out of one word separate at once. Relative whole numbers keep the text
// short, because a page may hold a hundred thousand of these.
void Svg::arc_path(const WordLine& line, const Arc& arc, int base, int height) {
  const int from = line.start(arc);
  const int across = line.at(arc.modifier) - from;
  const int side = across < 0 ? -1 : 1;
  const int corner = std::min(std::abs(across) / 2, 10 + height * 4 / 25);
  const int turn = std::min(height, 16 + height * 2 / 5);  // The height of a corner.
  const int leg = height - turn;
  const int level = across - side * 2 * corner;
  constexpr double kRound = 0.55;  // Bezier control points at this distance approximate a circle.
  const int rise = static_cast<int>(std::lround(kRound * turn));
  const int run = static_cast<int>(std::lround((1 - kRound) * corner));
  numbers("M", {from, base});
  if (leg > 0) numbers("v", {-leg});
  numbers("c", {0, -rise, side * run, -turn, side * corner, -turn});
  if (level != 0) numbers("h", {level});
  numbers("c", {side * (corner - run), 0, side * corner, turn - rise, side * corner, turn});
  if (leg > 0) numbers("v", {leg});
}

void Svg::edge(const WordLine& line, const Arc& arc, int base, int height, bool with_probability,
               bool hint) {
  raw("<path data-h=\"");
  integer(arc.head);
  raw("\" data-m=\"");
  integer(arc.modifier);
  if (with_probability) {
    raw("\" opacity=\"");
    probability(arc.probability);
  }
  raw("\" d=\"");
  if (arc.head == 0) {
    numbers("M", {line.at(arc.modifier), kRootTop});
    numbers("V", {base});
  } else {
    arc_path(line, arc, base, height);
  }
  raw("m-3-6l3 6 3-6");  // The arrow head.
  if (!hint) return raw("\"/>\n");
  raw("\"><title>");
  escaped(arc.head == 0 ? "ROOT" : line.shown.data()[arc.head - 1]);
  raw(" → ");
  escaped(line.shown.data()[arc.modifier - 1]);
  if (with_probability) {
    raw(", ");
    probability(arc.probability);
  }
  raw("</title></path>\n");
}

void Svg::label(int x, int y, std::string_view shown, std::string_view more) {
  raw("<text x=\"");
  integer(x);
  raw("\" y=\"");
  integer(y);
  raw("\"");
  raw(more);
  raw(">");
  escaped(shown);
  raw("</text>\n");
}

void Svg::begin_edges(std::string_view stroke_width) {
  raw("<g fill=\"none\" stroke=\"currentColor\" stroke-linecap=\"round\" stroke-linejoin=\"round\" "
      "stroke-width=\"");
  raw(stroke_width);
  raw("\">\n");
}

void Svg::begin_labels() {
  raw("<g fill=\"currentColor\" text-anchor=\"middle\" font-size=\"11.5\">\n");
}

void Svg::words(const WordLine& line, int base) {
  raw("<g fill=\"currentColor\" text-anchor=\"middle\" font-size=\"16\">\n");
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
