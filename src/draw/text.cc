// SPDX-License-Identifier: Apache-2.0
#include "draw/text.h"

#include <algorithm>

#include "core/check.h"
#include "draw/columns.h"
#include "draw/words.h"
#include "taproot/draw.h"

namespace taproot::detail {
namespace {

constexpr std::string_view kMark = "\u200e";  // Left-to-right mark.

// The lines of one drawing, from the top down.
class Page {
 public:
  Page(const TextDrawing& drawing, int highest, std::size_t width, bool color)
      : drawing_(drawing),
        columns_(place_columns(drawing.nodes, drawing.arcs, drawing.labels, width)),
        color_(color),
        by_level_(static_cast<std::size_t>(highest) + 1),
        legs_(columns_.blocks.back().end + 1) {
    for (std::size_t a = 0; a < drawing.arcs.size(); ++a) {
      const Arc& arc = drawing.arcs[a];
      by_level_[static_cast<std::size_t>(arc.level)].push_back(a);
      legs_[columns_.left(arc)].push_back({arc.level, drawing.weights[a]});
      legs_[columns_.right(arc)].push_back({arc.level, drawing.weights[a]});
    }
  }

  std::string text() {
    for (std::size_t b = 0; b < columns_.blocks.size(); ++b) {
      if (b > 0) out_ += "\n";
      write_block(b);
    }
    return std::move(out_);
  }

 private:
  struct Leg {
    int level;
    Weight weight;
  };
  using Row = std::vector<Cell>;

  // The row of a level; level 0 is the one just above the words.
  Row row_at(std::size_t level) const {
    Row row(legs_.size());
    const int here = static_cast<int>(level);
    for (std::size_t x = 0; x < legs_.size(); ++x) {
      for (const Leg& leg : legs_[x]) {
        Weight& down = row[x].sides[Cell::kDown];
        Weight& up = row[x].sides[Cell::kUp];
        if (leg.level >= here) down = std::max(down, leg.weight);
        if (leg.level > here) up = std::max(up, leg.weight);
      }
    }
    for (const std::size_t a : by_level_[level]) draw_level_line(a, row);
    if (level > 0) return row;
    for (const Arc& arc : drawing_.arcs) {
      Cell& cell = row[columns_.port(arc.modifier, kMiddle)];
      cell.weight = cell.strongest();
      cell.text = "▼";
    }
    return row;
  }

  void draw_level_line(std::size_t a, Row& row) const {
    const std::size_t left = columns_.left(drawing_.arcs[a]);
    const std::size_t right = columns_.right(drawing_.arcs[a]);
    const Weight weight = drawing_.weights[a];
    for (std::size_t x = left; x <= right; ++x) {
      if (x > left) row[x].sides[Cell::kBefore] = weight;
      if (x < right) row[x].sides[Cell::kAfter] = weight;
    }
    if (!drawing_.labels[a].empty()) write_label(drawing_.labels[a], left, right, row);
  }

  // As near the middle as there is a place that no line crosses and no block ends in.
  void write_label(const std::string& label, std::size_t left, std::size_t right, Row& row) const {
    const std::size_t cells = cell_width(label);
    if (right < left + cells + 1) return;  // Never: the columns were placed with room.
    const std::size_t last = right - cells - 1;
    const std::size_t middle = (left + right + 1 - cells) / 2;
    const auto is_free = [&](std::size_t begin, bool crossings) {
      for (const Block& block : columns_.blocks) {
        if (begin <= block.begin && begin + cells > block.begin) return false;
      }
      for (std::size_t x = begin; x < begin + cells && crossings; ++x) {
        if (row[x].sides[Cell::kUp] != Weight::kNone) return false;
      }
      return true;
    };
    std::size_t best = middle;
    bool found = false;
    for (const bool crossings : {true, false}) {
      for (std::size_t shift = 0; shift <= right - left && !found; ++shift) {
        for (const bool after : {false, true}) {
          if (found || (!after && middle < left + 2 + shift)) continue;
          const std::size_t begin = after ? middle + shift : middle - shift;
          if (begin > last || !is_free(begin, crossings)) continue;
          best = begin;
          found = true;
        }
      }
    }
    for (const std::string& one : split_cells(label, 1)) {
      const std::size_t wide = cell_width(one);
      row[best].text = one;
      for (std::size_t i = 1; i < wide; ++i) row[best + i].covered = true;
      best += wide;
    }
  }

  void write_block(std::size_t b) {
    const Block& block = columns_.blocks[b];
    const std::vector<int> before = passing(block.begin);
    const std::vector<int> after =
        b + 1 < columns_.blocks.size() ? passing(block.end) : std::vector<int>{};
    for (std::size_t level = by_level_.size(); level-- > 0;) {
      const Row row = row_at(level);
      const bool empty = std::all_of(row.begin() + static_cast<std::ptrdiff_t>(block.begin),
                                     row.begin() + static_cast<std::ptrdiff_t>(block.end),
                                     [](const Cell& cell) { return cell.is_empty(); });
      if (empty) continue;  // Lines that go on are known by their numbers, not by their rows.
      margin(rank(before, level));
      for (std::size_t x = block.begin; x < block.end; ++x) put(row[x]);
      if (const std::size_t number = rank(after, level); number > 0) {
        style(kLabelStyle);
        out_ += std::to_string(number);
      }
      end_line();
    }
    write_words(block);
  }

  // The levels of the lines that go on from one block to the next at column x, upwards.
  std::vector<int> passing(std::size_t x) const {
    std::vector<int> levels;
    for (const Arc& arc : drawing_.arcs) {
      if (columns_.left(arc) < x && x <= columns_.right(arc)) levels.push_back(arc.level);
    }
    std::sort(levels.begin(), levels.end());
    return levels;
  }
  // By which number a line is found again in the next block; 0 if none is at this level.
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
    for (std::size_t i = block.first_node; i < block.last_node; ++i) {
      lines = std::max(lines, columns_.text[i].size());
    }
    for (std::size_t l = 0; l < lines; ++l) {
      std::size_t at = block.begin;
      margin(0);
      for (std::size_t i = block.first_node; i < block.last_node; ++i) {
        if (l >= columns_.text[i].size()) continue;
        const std::string& piece = columns_.text[i][l];
        const std::size_t cells = cell_width(piece);
        const std::size_t begin = columns_.center[i] - (std::max<std::size_t>(cells, 1) - 1) / 2;
        for (; at < begin; ++at) blank();
        if (cells > 0) {
          style(i == 0 ? kLabelStyle : kPlain);
          flush_blanks();
        }
        // Between two such marks a terminal that reorders does so within the word alone.
        const bool mark = is_right_to_left(piece);
        if (mark) out_ += kMark;
        out_ += piece;
        if (mark) out_ += kMark;
        at += cells;
      }
      end_line();
    }
  }

  static constexpr std::string_view kPlain = "";
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
    blanks_ = 0;  // None at the end of a line.
    style(kPlain);
    out_ += "\n";
  }

  const TextDrawing& drawing_;
  Columns columns_;
  bool color_;
  std::vector<std::vector<std::size_t>> by_level_;
  std::vector<std::vector<Leg>> legs_;  // By column.
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
