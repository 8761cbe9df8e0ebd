// SPDX-License-Identifier: Apache-2.0
#include "draw/text.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "draw/columns.h"
#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot::detail {
namespace {

constexpr std::string_view kMark = "\u200e";  // Left-to-right mark.

// Writes the lines of one drawing. Each row is made once, from the top down, for the full length of
// the sentence, and is then cut into the blocks.
class Page {
 public:
  Page(const TextDrawing& drawing, int highest, std::size_t width, bool color)
      : drawing_(drawing),
        columns_(place_columns(drawing.nodes, drawing.arcs, drawing.labels, width)),
        width_(width),
        color_(color),
        by_level_(node_count(highest)),
        legs_(columns_.blocks.back().end + 1, Weight::kNone) {
    for (std::size_t a = 0; a < drawing.arcs.size(); ++a) {
      by_level_[drawing.arcs[a].level].push_back(a);
    }
  }

  std::string text() {
    const std::size_t blocks = columns_.blocks.size();
    std::vector<std::string> parts(blocks);
    std::vector<std::vector<int>> passing(blocks + 1);
    for (std::size_t b = 1; b < blocks; ++b) passing[b] = passing_at(columns_.blocks[b].begin);
    for (std::size_t level = by_level_.size(); level-- > 0;) {
      const Row row = row_at(level);
      for (std::size_t b = 0; b < blocks; ++b) {
        out_.swap(parts[b]);
        write_row(row, columns_.blocks[b], rank(passing[b], level), rank(passing[b + 1], level));
        out_.swap(parts[b]);
      }
    }
    std::string all;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (b > 0) all += "\n";
      all += parts[b];
      write_words(columns_.blocks[b]);
      all += std::exchange(out_, {});
    }
    for (const std::size_t a : unplaced_) write_below(a);
    return all + out_;
  }

 private:
  using Row = std::vector<Cell>;

  // Makes the row of a level. Rows above it must have been made before. Level 0 is directly above
  // the words.
  Row row_at(std::size_t level) {
    Row row(legs_.size());
    for (std::size_t x = 0; x < row.size(); ++x) row[x].sides[Cell::kUp] = legs_[x];
    for (const std::size_t a : by_level_[level]) {
      for (const std::size_t x :
           {columns_.left(drawing_.arcs[a]), columns_.right(drawing_.arcs[a])}) {
        legs_[x] = std::max(legs_[x], drawing_.weights[a]);
      }
    }
    for (std::size_t x = 0; x < row.size(); ++x) row[x].sides[Cell::kDown] = legs_[x];
    for (const std::size_t a : by_level_[level]) draw_level_line(a, row);
    if (level > 0) return row;
    for (const Arc& arc : drawing_.arcs) {
      Cell& cell = row[columns_.port(arc.modifier, kMiddle)];
      cell.weight = cell.strongest();
      cell.text = "▼";
    }
    return row;
  }

  void draw_level_line(std::size_t a, Row& row) {
    const std::size_t left = columns_.left(drawing_.arcs[a]);
    const std::size_t right = columns_.right(drawing_.arcs[a]);
    const Weight weight = drawing_.weights[a];
    for (std::size_t x = left; x <= right; ++x) {
      if (x > left) row[x].sides[Cell::kBefore] = weight;
      if (x < right) row[x].sides[Cell::kAfter] = weight;
    }
    const std::string& label = drawing_.labels[a];
    if (label.empty()) return;
    std::size_t x = 0;
    if (!find_place(cell_width(label), left, right, row, x)) return unplaced_.push_back(a);
    for (const std::string& one : split_cells(label, 1)) {
      const std::size_t wide = cell_width(one);
      row[x].text = one;
      for (std::size_t i = 1; i < wide; ++i) row[x + i].covered = true;
      x += wide;
    }
  }

  // Finds a place for a label of `cells` cells on a line, as near the middle as possible. No block
  // may end in it, and no line should cross it if that can be avoided. Returns false if the label
  // is wider than its line or than the terminal.
  bool find_place(std::size_t cells, std::size_t left, std::size_t right, const Row& row,
                  std::size_t& place) const {
    if (right < left + cells + 1) return false;
    const std::size_t last = right - cells - 1;
    const std::size_t middle = (left + right + 1 - cells) / 2;
    const auto is_free = [&](std::size_t begin, bool crossings) {
      for (const Block& block : columns_.blocks) {
        if (begin <= block.begin && begin + cells > block.begin) return false;
      }
      for (std::size_t x = begin; x < begin + cells && !crossings; ++x) {
        if (row[x].sides[Cell::kUp] != Weight::kNone) return false;
      }
      return true;
    };
    for (const bool crossings : {false, true}) {
      for (std::size_t shift = 0; shift <= right - left; ++shift) {
        for (const bool after : {false, true}) {
          if (!after && middle < left + 1 + shift) continue;
          place = after ? middle + shift : middle - shift;
          if (place <= last && is_free(place, crossings)) return true;
        }
      }
    }
    return false;
  }

  void write_row(const Row& row, const Block& block, std::size_t before, std::size_t after) {
    const auto at = [&](std::size_t x) { return row.begin() + static_cast<std::ptrdiff_t>(x); };
    // An empty row may be left out, because numbers at the margins, not rows, identify the lines
    // that go on in the next block.
    if (std::all_of(at(block.begin), at(block.end),
                    [](const Cell& cell) { return cell.is_empty(); })) {
      return;
    }
    margin(before);
    for (std::size_t x = block.begin; x < block.end; ++x) put(row[x]);
    if (after > 0) {
      style(kLabelStyle);
      out_ += std::to_string(after);
    }
    end_line();
  }

  // Writes a label that had no room on its line below the drawing.
  void write_below(std::size_t a) {
    const Arc& arc = drawing_.arcs[a];
    const std::string* node = drawing_.nodes.data();
    const std::string line =
        node[arc.head] + " → " + node[arc.modifier] + ": " + drawing_.labels[a];
    for (const std::string& piece : split_cells(line, width_)) {
      out_ += piece;
      end_line();
    }
  }

  // The levels of the lines that cross from one block to the next at column x, in ascending order.
  std::vector<int> passing_at(std::size_t x) const {
    std::vector<int> levels;
    for (const Arc& arc : drawing_.arcs) {
      if (columns_.left(arc) < x && x <= columns_.right(arc)) levels.push_back(arc.level);
    }
    std::sort(levels.begin(), levels.end());
    return levels;
  }
  // The number by which the line at this level is found again in the next block, or 0 if no line is
  // at this level.
  static std::size_t rank(const std::vector<int>& levels, std::size_t level) {
    const auto at = std::lower_bound(levels.begin(), levels.end(), static_cast<int>(level));
    if (at == levels.end() || *at != static_cast<int>(level)) return 0;
    return static_cast<std::size_t>(at - levels.begin()) + 1;
  }

  void margin(std::size_t number) {
    const std::string digits = number > 0 ? std::to_string(number) : "";
    for (std::size_t i = digits.size(); i < columns_.margin; ++i) blank();
    if (number == 0) return;
    style(kLabelStyle);
    out_ += digits;
  }

  void put(const Cell& cell) {
    if (cell.covered) return;
    if (cell.is_empty()) return blank();
    const bool is_label = !cell.text.empty() && cell.weight == Weight::kNone;
    const Weight weight = cell.strongest();
    style(is_label                    ? kLabelStyle
          : weight == Weight::kHeavy  ? kHeavyStyle
          : weight == Weight::kDashed ? kDashedStyle
                                      : kPlain);
    flush_blanks();
    out_ += box_character(cell);
  }

  void write_words(const Block& block) {
    std::size_t lines = 0;
    for (std::size_t i = block.first_node; i < block.end_node; ++i) {
      lines = std::max(lines, columns_.text[i].size());
    }
    for (std::size_t l = 0; l < lines; ++l) {
      std::size_t at = block.begin;
      margin(0);
      for (std::size_t i = block.first_node; i < block.end_node; ++i) {
        if (l >= columns_.text[i].size()) continue;
        const std::string& piece = columns_.text[i][l];
        const std::size_t cells = cell_width(piece);
        const std::size_t begin = columns_.center[i] - (std::max<std::size_t>(cells, 1) - 1) / 2;
        for (; at < begin; ++at) blank();
        if (cells > 0) {
          style(i == 0 ? kLabelStyle : kPlain);
          flush_blanks();
        }
        // Between two left-to-right marks, a terminal reorders characters only within the word.
        const bool mark = is_right_to_left(piece);
        if (mark) out_ += kMark;
        out_ += piece;
        if (mark) out_ += kMark;
        at += cells;
      }
      end_line();
    }
  }

  static constexpr std::string_view kPlain{};
  static constexpr std::string_view kHeavyStyle = "1";
  static constexpr std::string_view kDashedStyle = "2";
  static constexpr std::string_view kLabelStyle = "36";

  void blank() { ++blanks_; }
  void flush_blanks() {
    out_.append(blanks_, ' ');
    blanks_ = 0;
  }
  void style(std::string_view wanted) {
    flush_blanks();
    if (!color_ || wanted == style_) return;
    out_ += "\x1b[0";
    if (!wanted.empty()) (out_ += ';') += wanted;
    out_ += 'm';
    style_ = wanted;
  }
  void end_line() {
    blanks_ = 0;  // Drops blanks at the end of a line.
    style(kPlain);
    out_ += "\n";
  }

  const TextDrawing& drawing_;
  Columns columns_;
  std::size_t width_;
  bool color_;
  IndexedVector<std::vector<std::size_t>> by_level_;  // The arcs of each level.
  std::vector<Weight> legs_;  // The vertical lines in each column, from the rows made so far.
  std::vector<std::size_t> unplaced_;
  std::string out_;
  std::size_t blanks_ = 0;
  std::string_view style_ = kPlain;
};

}  // namespace

std::string draw_text(TextDrawing drawing, std::size_t width, bool color) {
  const int highest = stack(drawing.arcs, drawing.nodes.size());
  return Page(drawing, highest, width, color).text();
}

}  // namespace taproot::detail
