// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot::detail {
namespace {

constexpr int kGap = 16;            // Between words.
constexpr int kPort = 6;            // From a word's center to where edges leave it.
constexpr double kFaintest = 0.45;  // The opacity of an edge whose probability is next to nothing.

// A text stands on its arc from here to here above the line, and keeps this distance from others.
constexpr int kTextFoot = 3;
constexpr int kTextTop = 12;
constexpr int kTextClear = 2;
constexpr int kTextReach = 240;  // From an arc's modifier to the middle of its text, at most.

}  // namespace

int WordLine::start(const Arc& arc) const {
  return at(arc.head) + (arc.head < arc.modifier ? kPort : -kPort);
}

WordLine place_words(std::vector<std::string> shown, std::span<const Arc> arcs,
                     std::span<const std::string> texts, const ArcTextStyle& style) {
  WordLine line;
  line.shown = std::move(shown);
  const std::size_t n = line.shown.size();
  line.center.resize(n + 1);
  // Arcs by their right ends, because a word is placed with room for all arcs that end at it.
  IndexedVector<std::vector<std::size_t>> ending(n + 1);
  for (std::size_t a = 0; a < arcs.size(); ++a) ending[arcs[a].right()].push_back(a);
  const int step = style.least_step;
  int edge = kMargin;             // The least x at which the next word may begin.
  int next = kMargin + step / 2;  // The least x of its center.
  int next_root = 0;  // The same for a word with an edge from ROOT, so that labels do not overlap.
  for (std::size_t i = 1; i <= n; ++i) {
    const auto pixels = static_cast<int>(std::ceil(kFontSize * em_width(line.shown[i - 1])));
    const int half = (pixels + 1) / 2;
    int x = std::max(edge + half, next);
    int right = std::max(half, step / 2);
    for (const std::size_t a : ending[i]) {
      const int text = texts.empty() ? 0 : style.width(texts[a]);
      if (arcs[a].head == 0) {
        x = std::max(x, next_root);
        right = std::max(right, text + kBesideRoot);
      } else if (!texts.empty()) {
        x = std::max(x, line.at(arcs[a].left()) + kPort + 2 * style.beside + text);
      }
    }
    line.center[i] = x;
    next = x + step;
    edge = x + half + kGap;
    next_root = std::max(next_root, x + right + step / 2);
    line.width = std::max(line.width, x + right + kMargin);
  }
  line.width = std::max(line.width, 2 * kMargin);
  return line;
}

int ArcTextStyle::width(std::string_view text) const {
  return static_cast<int>(std::ceil(size * em_width(text)));
}

// Corners widen with the height, so that arcs out of one word separate at once.
ArcShape::ArcShape(const WordLine& line, const Arc& arc, int arc_height)
    : from(line.start(arc)),
      to(line.at(arc.modifier)),
      height(arc_height),
      corner(std::min(std::abs(to - from) / 2, 10 + height * 4 / 25)),
      turn(std::min(height, 16 + height * 2 / 5)) {}

double ArcShape::inset(double at) const {
  const double share = std::clamp((at - (height - turn)) / turn, 0.0, 1.0);
  return corner * (1 - std::sqrt(1 - share * share));
}

Lines::Lines(const WordLine& line, std::span<const Arc> arcs, std::span<const int> heights) {
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    shapes_.emplace_back(line, arcs[a], heights[a]);
    if (arcs[a].head == 0) of_root_.push_back(line.at(arcs[a].modifier));
  }
}

int Lines::text_center(std::size_t a, int width, int beside) const {
  const ArcShape& own = shapes_[a];
  const int left = own.left();
  const int right = own.right();
  // The stretches that lines cover at the height of the text.
  std::vector<std::pair<double, double>> taken;
  const auto take = [&](double begin, double end) {
    if (end > left && begin < right) taken.emplace_back(begin, end);
  };
  for (const int x : of_root_) take(x, x);
  for (const ArcShape& other : shapes_) {
    if (other.height <= own.height || other.left() > right || other.right() < left) continue;
    const double low = other.inset(own.height + kTextFoot);
    const double high = other.inset(own.height + kTextTop);
    take(other.left() + low, other.left() + high);
    take(other.right() - high, other.right() - low);
  }
  // On a long arc the text is near the modifier, where a reader who scrolls sees both.
  const int wanted = std::clamp((left + right) / 2, own.to - kTextReach, own.to + kTextReach);
  const auto is_free = [&](int x) {
    const double begin = x - width / 2.0 - kTextClear;
    const double end = x + width / 2.0 + kTextClear;
    return std::none_of(taken.begin(), taken.end(), [&](const auto& stretch) {
      return stretch.second > begin && stretch.first < end;
    });
  };
  // Above the horizontal line if it can be, or else also above the corners.
  for (const int margin : {std::max(own.corner / 2, beside), beside}) {
    const int least = left + margin + width / 2;
    const int most = right - margin - width / 2;
    for (int shift = 0; shift <= std::max(wanted - least, most - wanted); shift += 4) {
      for (const int x : {wanted - shift, wanted + shift}) {
        if (x >= least && x <= most && is_free(x)) return x;
      }
    }
  }
  return wanted;
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

void Svg::real(double value, int digits) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
  text_.append(text, end.ptr);
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

// Relative whole numbers keep the text short, because a page may hold a hundred thousand of these.
void Svg::arc_path(const WordLine& line, const Arc& arc, int base, int height) {
  const ArcShape shape(line, arc, height);
  const int from = shape.from;
  const int corner = shape.corner;
  const int turn = shape.turn;
  const int across = shape.to - from;
  const int side = across < 0 ? -1 : 1;
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

void Svg::edge(const WordLine& line, const Arc& arc, int base, int height, const EdgeNotes& notes) {
  raw("<path data-h=\"");
  integer(arc.head);
  raw("\" data-m=\"");
  integer(arc.modifier);
  if (!notes.label.empty()) {
    raw("\" data-l=\"");
    escaped(notes.label);
  }
  if (notes.probability) {
    raw("\" data-p=\"");
    real(arc.probability, 4);
    raw("\" opacity=\"");
    real(kFaintest + (1 - kFaintest) * arc.probability, 2);
  }
  raw("\" d=\"");
  if (arc.head == 0) {
    numbers("M", {line.at(arc.modifier), kRootTop});
    numbers("V", {base});
  } else {
    arc_path(line, arc, base, height);
  }
  raw("m-3-6l3 6 3-6");  // The arrow head.
  if (!notes.hint) return raw("\"/>\n");
  raw("\"><title>");
  escaped(arc.head == 0 ? "ROOT" : line.shown.data()[arc.head - 1]);
  raw(" → ");
  escaped(line.shown.data()[arc.modifier - 1]);
  if (!notes.label.empty()) {
    raw(", ");
    escaped(notes.label);
  }
  if (notes.probability) {
    raw(", ");
    real(arc.probability, 4);
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

void Svg::begin_labels(double size) {
  raw("<g fill=\"currentColor\" text-anchor=\"middle\" font-size=\"");
  real(size, 4);
  raw("\">\n");
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
