// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "draw/words.h"
#include "taproot/draw.h"
#include "testing/misuse.h"
#include "unit/draw/examples.h"

namespace taproot {
namespace {

using Line = std::vector<std::string>;  // By cell.
using Picture = std::vector<Line>;

Line cells_of(const std::string& text) {
  Line line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    detail::next_code(text, at);
    line.push_back(text.substr(begin, at - begin));
  }
  return line;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_digit(const std::string& cell) { return cell.size() == 1 && std::isdigit(cell[0]) != 0; }

// A block of lines, and the numbers in its margins.
struct Block {
  Picture rows;
  std::vector<std::string> before;
  std::vector<std::string> after;
};

std::vector<Block> blocks_of(const std::string& text, std::size_t arcs) {
  std::vector<Block> blocks(1);
  for (const std::string& line : lines_of(text)) {
    if (line.empty()) {
      blocks.emplace_back();
    } else {
      blocks.back().rows.push_back(cells_of(line));
    }
  }
  const std::size_t margin = blocks.size() == 1 ? 0 : std::to_string(arcs).size();
  for (Block& block : blocks) {
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
      Line& line = block.rows[r];
      std::string before;
      std::string after;
      for (std::size_t x = 0; x < margin; ++x) {
        if (line[x] != " ") before += line[x];
      }
      line.erase(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(margin));
      while (margin > 0 && r + 1 < block.rows.size() && is_digit(line.back())) {
        after.insert(0, line.back());
        line.pop_back();
      }
      block.before.push_back(before);
      block.after.push_back(after);
    }
  }
  return blocks;
}

// A reader's finger on the drawing. It knows nothing of how that was made.
class Finger {
 public:
  Finger(const std::vector<Block>& blocks, std::size_t block, std::size_t row, std::size_t column)
      : blocks_(blocks), block_(block), row_(row), column_(column) {}

  std::string cell() const {
    const Line& line = blocks_[block_].rows[row_];
    return column_ < line.size() ? line[column_] : " ";
  }
  std::size_t block() const { return block_; }
  std::size_t column() const { return column_; }
  bool is_at_foot() const { return row_ + 2 == blocks_[block_].rows.size(); }

  bool up() { return row_ > 0 ? (--row_, true) : false; }
  bool down() { return !is_at_foot() ? (++row_, true) : false; }

  bool right() {
    const Block& here = blocks_[block_];
    if (++column_ < here.rows[row_].size()) return true;
    return jump(here.after[row_], block_ + 1, [](const Block& to) { return to.before; });
  }
  bool left() {
    if (column_ > 0) return --column_, true;
    return jump(blocks_[block_].before[row_], block_ - 1, [](const Block& to) { return to.after; });
  }

 private:
  template <typename Marks>
  bool jump(const std::string& number, std::size_t to, Marks marks) {
    if (number.empty() || to >= blocks_.size()) return false;
    const std::vector<std::string> there = marks(blocks_[to]);
    const auto at = std::find(there.begin(), there.end(), number);
    if (at == there.end() || std::count(there.begin(), there.end(), number) != 1) return false;
    row_ = static_cast<std::size_t>(at - there.begin());
    column_ = to > block_ ? 0 : blocks_[to].rows[row_].size() - 1;
    block_ = to;
    return true;
  }

  const std::vector<Block>& blocks_;
  std::size_t block_;
  std::size_t row_;
  std::size_t column_;
};

// Follows the line up from every arrow head, along, and down to where it began. Every letter of the
// words must take one cell.
std::vector<std::pair<int, int>> read_back(const std::vector<Block>& blocks) {
  struct Center {
    std::size_t block, column;
  };
  std::vector<Center> centers = {{0, 1}};  // ROOT's, which has no arrow.
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].rows.size() < 2) continue;
    const Line& arrows = blocks[b].rows[blocks[b].rows.size() - 2];
    for (std::size_t x = 0; x < arrows.size(); ++x) {
      if (arrows[x] == "▼") centers.push_back({b, x});
    }
  }
  std::vector<std::pair<int, int>> edges;
  for (std::size_t m = 1; m < centers.size(); ++m) {
    const Center& start = centers[m];
    Finger finger(blocks, start.block, blocks[start.block].rows.size() - 2, start.column);
    const auto is_one_of = [&](std::initializer_list<const char*> cells) {
      return std::find(cells.begin(), cells.end(), finger.cell()) != cells.end();
    };
    bool moved = true;
    while (moved && !is_one_of({"╭", "╮"})) moved = finger.up();
    const bool to_right = finger.cell() == "╭";
    do {
      moved = moved && (to_right ? finger.right() : finger.left());
    } while (moved && !is_one_of({"╭", "╮", "├", "┤"}));
    while (moved && !finger.is_at_foot() && finger.cell() != " ") moved = finger.down();
    if (!moved || finger.cell() != "│") return {};
    int head = -1;
    for (std::size_t h = 0; h < centers.size(); ++h) {
      const bool beside =
          finger.column() + 1 == centers[h].column || finger.column() == centers[h].column + 1;
      if (finger.block() == centers[h].block && beside) head = static_cast<int>(h);
    }
    edges.emplace_back(head, static_cast<int>(m));
  }
  return edges;
}

TextOptions wide(std::size_t width) {
  TextOptions options;
  options.width = width;
  return options;
}

void expect_fits(const std::string& text, std::size_t width) {
  ASSERT_TRUE(text.empty() || text.back() == '\n');
  for (const std::string& line : lines_of(text)) {
    EXPECT_LE(detail::cell_width(line), width) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(TreeText, CanBeReadBack) {
  Sequence random(11);
  for (int round = 0; round < 400; ++round) {
    const int n = 1 + random.below(25);
    const Tree heads = round % 2 == 0 ? random_tree(n, random) : random_projective_tree(n, random);
    Strings words;
    Strings labels;
    for (int i = 0; i < n; ++i) {
      words.push_back(std::string(static_cast<std::size_t>(1 + random.below(9)), 'n'));
      labels.push_back(std::string(static_cast<std::size_t>(random.below(6)), 'x'));
    }
    for (const std::size_t width : {std::size_t{1000}, std::size_t{70}, std::size_t{24}}) {
      TextOptions options = wide(width);
      if (round % 4 < 2) options.labels = labels;
      const std::string text = tree_text(words, heads, options);
      expect_fits(text, width);
      std::vector<std::pair<int, int>> expected;
      for (int m = 1; m <= n; ++m) expected.emplace_back(heads[static_cast<std::size_t>(m) - 1], m);
      ASSERT_EQ(read_back(blocks_of(text, heads.size())), expected) << text;
      if (options.labels.empty()) continue;
      for (const std::string& label : labels) {
        EXPECT_NE(text.find(label), std::string::npos) << label << "\n" << text;
      }
    }
  }
}

TEST(TreeText, IsThisPicture) {
  const Strings words = {"A", "hearing", "is", "scheduled", "on", "the", "issue", "today"};
  EXPECT_EQ(tree_text(words, Tree{2, 4, 4, 0, 7, 7, 2, 4}),
            "               ╭────────────────────────────────╮\n"
            "  ╭────────────┼─────────────╮╭─────────────────┼──────╮\n"
            "  │           ╭┼────────────╮││      ╭─────────╮│      │\n"
            "  │    ╭─────╮││     ╭──────┤││      │    ╭────┤│      │\n"
            "  │    ▼     │▼│     ▼      │▼│      ▼    ▼    │▼      ▼\n"
            "ROOT   A   hearing   is  scheduled   on  the  issue  today\n");
  EXPECT_EQ(tree_text({}, Tree{0, 1}),
            "  ╭────╮╭───╮\n"
            "  │    ▼│   ▼\n"
            "ROOT   1    2\n");
  EXPECT_EQ(tree_text({}, Tree{}), "ROOT\n");
}

// Every kind of word: all lines are as wide as they may be, and the arrows stand above the words.
TEST(TreeText, KeepsItsColumnsWhateverTheWords) {
  for (const Example& example : examples()) {
    for (const std::size_t width : {20U, 33U, 80U, 200U}) {
      TextOptions options = wide(width);
      options.labels = example.labels;
      const std::string text = tree_text(example.words, example.heads, options);
      expect_fits(text, width);
      for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
      if (width < 200) continue;
      const auto lines = lines_of(text);
      for (const std::string& word : example.words) {
        EXPECT_NE(lines.back().find(shown_text(word)), std::string::npos) << word;
      }
      // The cells before the k-th arrow are those before the middle of the k-th word.
      const std::string& arrows = lines[lines.size() - 2];
      std::size_t arrow = 0;
      std::size_t word_at = 0;
      for (const std::string& word : example.words) {
        arrow = arrows.find("▼", arrow);
        ASSERT_NE(arrow, std::string::npos);
        const std::size_t column = detail::cell_width(arrows.substr(0, arrow));
        word_at = lines.back().find(shown_text(word), word_at);
        const std::size_t begin = detail::cell_width(lines.back().substr(0, word_at));
        const std::size_t cells = detail::cell_width(shown_text(word));
        EXPECT_EQ(column, begin + (cells - 1) / 2) << word;
        arrow += 3;
        ++word_at;
      }
    }
  }
}

TEST(TreeText, SplitsWordsThatAreWiderThanTheTerminal) {
  std::string alphabet;
  for (int i = 0; i < 200; ++i) alphabet += static_cast<char>('a' + i % 26);
  const std::string text = tree_text(Strings{alphabet, "b"}, Tree{0, 1}, wide(30));
  expect_fits(text, 30);
  std::string letters;
  for (const char c : text.substr(text.find("\n\n"))) {
    if (c >= 'a' && c <= 'z') letters += c;
  }
  EXPECT_EQ(letters, alphabet + "b");
}

TEST(TreeText, WritesLabelsWithoutRoomBelow) {
  const Strings labels = {"root", std::string(70, 'x')};
  TextOptions options = wide(40);
  options.labels = labels;
  const std::string text = tree_text(Strings{"a", "b"}, Tree{0, 1}, options);
  expect_fits(text, 40);
  EXPECT_NE(text.find("root"), std::string::npos);
  EXPECT_NE(text.find("\na → b: xxx"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), 'x'), 70);
}

TEST(TreeText, ColorsOnlyWhenAsked) {
  const Strings words = {"a", "b"};
  TextOptions options;
  const std::string plain = tree_text(words, Tree{2, 0}, options);
  options.color = true;
  std::string colored = tree_text(words, Tree{2, 0}, options);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(colored.find('\x1b'), std::string::npos);
  for (std::size_t at = 0; (at = colored.find('\x1b')) != std::string::npos;) {
    colored.erase(at, colored.find('m', at) + 1 - at);
  }
  EXPECT_EQ(colored, plain);
}

TEST(TreeText, RefusesWhatDoesNotFit) {
  expect_misuse("tree_text", [] { (void)tree_text(Strings{"a"}, Tree{0, 1}); });
  expect_misuse("tree_text", [] { (void)tree_text({}, Tree{1}); });
  expect_misuse("tree_text", [] { (void)tree_text({}, Tree{0}, wide(19)); });
  const Strings labels = {"x", "y"};
  TextOptions options;
  options.labels = labels;
  expect_misuse("tree_text", [&] { (void)tree_text({}, Tree{0}, options); });
  expect_misuse("marginals_text",
                [&] { (void)marginals_text({}, std::vector<double>(9, 0.0), options); });
  expect_misuse("marginals_text", [] { (void)marginals_text({}, std::vector<double>(8, 0.0)); });
  expect_misuse("marginals_text", [] { (void)marginals_text({}, std::vector<double>(4, 2.0)); });
  expect_misuse("marginals_text",
                [] { (void)marginals_text({}, std::vector<double>(4, 0.0), wide(3)); });
}

TEST(MarginalsText, ShowsStrengthByTheLine) {
  // Word 1 under ROOT or word 2, word 2 under ROOT or word 1.
  const std::vector<double> p = {0, 0.9, 0.1, 0, 0, 0.9, 0, 0.1, 0};
  EXPECT_EQ(marginals_text(Strings{"one", "two"}, p),
            "  ╭┄┄┄┄┄10%┄┄┄┄┄┄╮\n"
            "  ┆       ┏━90%━━┫\n"
            "  ┆      ╭╂10%┄┄╮┃\n"
            "  ┣━90%━━┫┃     ┆┃\n"
            "  ┃      ▼┃     ┆▼\n"
            "ROOT    one     two\n");
}

TEST(MarginalsText, NamesLabels) {
  const std::vector<double> p = {0, 0.996, 0.004, 0, 0, 0.996, 0, 0.004, 0};
  const Strings labels = {"", "root", "", "", "", "obj", "", "", ""};
  TextOptions options;
  options.labels = labels;
  options.threshold = 0;
  const std::string text = marginals_text(Strings{"one", "two"}, p, options);
  for (const char* piece : {"root >99%", "obj >99%", "┄<1%┄"}) {
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
  }
}

TEST(MarginalsText, NamesEveryEdgeAboveTheThreshold) {
  Sequence random(13);
  for (int round = 0; round < 50; ++round) {
    const Tree heads = random_tree(2 + random.below(12), random);
    const std::vector<double> p = marginals_near(heads, 2.5, random);
    const std::size_t side = heads.size() + 1;
    TextOptions options = wide(300);
    options.threshold = 0.03;
    const std::string text = marginals_text({}, p, options);
    expect_fits(text, 300);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (i % side != 0 && i / side != i % side && p[i] >= 0.03) ++expected;
    }
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '%')), expected);
    expect_fits(marginals_text({}, p, wide(40)), 40);
  }
}

}  // namespace
}  // namespace taproot
