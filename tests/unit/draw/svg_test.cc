// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "draw/arcs.h"
#include "draw/words.h"
#include "taproot/draw.h"
#include "testing/misuse.h"
#include "testing/paths.h"
#include "unit/draw/drawing.h"
#include "unit/draw/examples.h"

namespace taproot {
namespace {

SvgOptions labeled(const Strings& labels, const std::vector<double>& probabilities = {}) {
  SvgOptions options;
  options.labels = labels;
  options.label_probabilities = probabilities;
  return options;
}

SvgOptions from(double threshold) {
  SvgOptions options;
  options.threshold = threshold;
  return options;
}

// The drawing as it was when somebody last looked at it. TAPROOT_UPDATE_GOLDEN=1 writes it anew.
void expect_golden(const std::string& name, const std::string& svg) {
  const std::string path = oracle::golden_file(name + ".svg");
  if (std::getenv("TAPROOT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << svg;
  std::ifstream in(path);
  const std::string golden(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(svg, golden) << path;
}

std::map<int, Point> word_places(const Drawing& drawing) {
  std::map<int, Point> places;
  for (const DrawnText& word : drawing.words) places[word.word] = word.at;
  return places;
}

// Every edge begins and ends at its words, stays inside the drawing, and words do not overlap.
void expect_sound(const Drawing& drawing) {
  std::map<int, Point> places = word_places(drawing);
  for (const DrawnEdge& edge : drawing.edges) {
    ASSERT_TRUE(places.contains(edge.modifier));
    EXPECT_EQ(edge.end.x, places[edge.modifier].x);
    EXPECT_LT(edge.end.y, places[edge.modifier].y);
    if (edge.head == 0) {
      EXPECT_EQ(edge.begin.x, edge.end.x);
      EXPECT_LT(edge.begin.y, edge.end.y);
    } else {
      ASSERT_TRUE(places.contains(edge.head));
      EXPECT_NEAR(edge.begin.x, places[edge.head].x, 7);
      EXPECT_EQ(edge.begin.y, edge.end.y);
    }
    for (const Point& point : edge.line) {
      EXPECT_GE(point.x, 0);
      EXPECT_LE(point.x, drawing.width);
      EXPECT_GE(point.y, 8);
      EXPECT_LE(point.y, drawing.height);
    }
  }
  double edge = 0;
  for (const DrawnText& word : drawing.words) {
    const double half = 8 * detail::em_width(word.text);
    EXPECT_GE(word.at.x - half, edge) << word.text;
    edge = word.at.x + half + 4;
  }
  EXPECT_LE(edge, drawing.width + 4);
}

TEST(TreeSvg, DrawsOneArcAWord) {
  for (const Example& example : examples()) {
    const std::string svg = tree_svg(example.words, example.heads, labeled(example.labels));
    const Drawing drawing = read_drawing(svg);
    expect_sound(drawing);
    std::multiset<std::pair<int, int>> found;
    for (const DrawnEdge& edge : drawing.edges) found.insert({edge.head, edge.modifier});
    std::multiset<std::pair<int, int>> expected;
    for (std::size_t i = 0; i < example.heads.size(); ++i) {
      expected.insert({example.heads[i], static_cast<int>(i) + 1});
    }
    EXPECT_EQ(found, expected);
    ASSERT_EQ(drawing.words.size(), example.heads.size());
    for (std::size_t i = 0; i < example.heads.size(); ++i) {
      EXPECT_EQ(drawing.words[i].text,
                example.words.empty() ? std::to_string(i + 1) : shown_text(example.words[i]));
    }
    for (std::size_t i = 0; i < example.labels.size(); ++i) {
      EXPECT_TRUE(std::any_of(drawing.labels.begin(), drawing.labels.end(), [&](const auto& label) {
        return label.text == shown_text(example.labels[i]);
      })) << example.labels[i];
    }
    EXPECT_NE(svg.find("currentColor"), std::string::npos);
    expect_golden(example.name, svg);
  }
}

struct Box {
  double left, right, top, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool holds(const Point& p) const {
    return p.x > left && p.x < right && p.y > top && p.y < bottom;
  }
};

Box box_of(const DrawnText& label, double size = 11.5) {
  const double width = size * detail::em_width(label.text);
  const double left = label.from_left ? label.at.x : label.at.x - width / 2;
  return {left, left + width, label.at.y - 8, label.at.y};
}

// How many labels a line runs through, of a tree with random words and labels. No two labels meet.
int crowded_labels(const Tree& heads, Sequence& random) {
  const Strings names = {"det", "nsubj:pass", "obl", "acl:relcl", "x", "compound:prt"};
  Strings words;
  Strings labels;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    words.push_back(std::string(static_cast<std::size_t>(1 + random.below(9)), 'n'));
    labels.push_back(names[static_cast<std::size_t>(random.below(6))]);
  }
  const Drawing drawing = read_drawing(tree_svg(words, heads, labeled(labels)));
  expect_sound(drawing);
  int crowded = 0;
  for (std::size_t i = 0; i < drawing.labels.size(); ++i) {
    const Box box = box_of(drawing.labels[i]);
    EXPECT_GE(box.left, 0);
    EXPECT_LE(box.right, drawing.width);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(box.meets(box_of(drawing.labels[j]))) << drawing.labels[i].text;
    }
    crowded += std::any_of(drawing.edges.begin(), drawing.edges.end(), [&](const DrawnEdge& edge) {
      return std::any_of(edge.line.begin(), edge.line.end(),
                         [&](const Point& point) { return box.holds(point); });
    });
  }
  return crowded;
}

// Arcs that overlap are stacked, the outer above the inner, so that labels keep clear of each other
// and of every line.
TEST(TreeSvg, KeepsLabelsClear) {
  Sequence random(7);
  int crowded = 0;
  int labels = 0;
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + random.below(25);
    EXPECT_EQ(crowded_labels(random_projective_tree(n, random), random), 0);
    crowded += crowded_labels(random_tree(n, random), random);
    labels += n;
  }
  // A random tree is all crossings: where a label finds no free place it stays in the middle.
  EXPECT_LT(crowded, labels / 8);
}

TEST(TreeSvg, SaysWhatItIs) {
  const Strings words = {"a<b", "c"};
  SvgOptions options;
  EXPECT_EQ(read_drawing(tree_svg(words, Tree{2, 0})).title, "Dependency tree: a<b c");
  EXPECT_EQ(read_drawing(tree_svg(words, Tree{2, 0})).edges[0].hint, "c → a<b");
  const std::vector<double> p = {0, 0, 1, 0, 0, 0, 0, 1, 0};
  EXPECT_EQ(read_drawing(marginals_svg(words, p)).edges[0].hint, "c → a<b, 1");
  const Strings labels = {"", "", "", "", "", "", "", "<l>", ""};
  const std::vector<double> with_label = {0, 0, 0, 0, 0, 0, 0, 0.75, 0};
  EXPECT_EQ(read_drawing(marginals_svg(words, p, labeled(labels, with_label))).edges[0].hint,
            "c → a<b, 1; <l> 0.75");
  options.title = "so & so";
  options.hints = false;
  const Drawing drawing = read_drawing(tree_svg(words, Tree{2, 0}, options));
  EXPECT_EQ(drawing.title, "so & so");
  EXPECT_EQ(drawing.edges[0].hint, "");
}

TEST(TreeSvg, TakesNoWordsLongOnesAndCycles) {
  const Drawing none = read_drawing(tree_svg({}, Tree{}));
  EXPECT_GT(none.width, 0);
  EXPECT_TRUE(none.edges.empty());
  expect_sound(read_drawing(tree_svg(Strings{std::string(5000, 'x'), ""}, Tree{0, 1})));
  EXPECT_EQ(read_drawing(tree_svg({}, Tree{2, 1})).edges.size(), 2U);
  Tree chain(2000);
  for (std::size_t i = 0; i < chain.size(); ++i) chain[i] = static_cast<std::int32_t>(i);
  EXPECT_EQ(read_drawing(tree_svg({}, chain)).edges.size(), 2000U);
}

TEST(TreeSvg, RefusesWhatDoesNotFit) {
  const auto refuse = [](const Strings& words, const Tree& heads, const Strings& labels = {}) {
    expect_misuse("tree_svg", [&] { (void)tree_svg(words, heads, labeled(labels)); });
  };
  refuse({"a"}, {0, 1});
  refuse({"a", "b"}, {0});
  refuse({"a", "b"}, {0, 3});
  refuse({"a", "b"}, {-1, 0});
  refuse({"a", "b"}, {0, 2});
  refuse({"a", "b"}, {0, 1}, {"x"});
  refuse({}, {0, 1}, {"x", "y", "z"});
}

TEST(Marginals, HaveOneThreshold) {
  EXPECT_EQ(SvgOptions().threshold, kDrawThreshold);
  EXPECT_EQ(TextOptions().threshold, kDrawThreshold);
}

TEST(MarginalsSvg, DrawsEveryEdgeAboveTheThreshold) {
  Sequence random(3);
  for (const Example& example : examples()) {
    const std::vector<double> p = marginals_near(example.heads, 3, random);
    const std::size_t side = example.heads.size() + 1;
    for (const double threshold : {0.0, 0.01, 0.2, 1.0}) {
      const std::string svg = marginals_svg(example.words, p, from(threshold));
      const Drawing drawing = read_drawing(svg);
      expect_sound(drawing);
      std::set<std::pair<int, int>> found;
      for (const DrawnEdge& edge : drawing.edges) {
        const double exact =
            p[static_cast<std::size_t>(edge.head) * side + static_cast<std::size_t>(edge.modifier)];
        EXPECT_NEAR(edge.probability, exact, 5e-4 * exact);
        EXPECT_NEAR(edge.opacity, 0.45 + 0.55 * exact, 0.006);  // None is invisible.
        EXPECT_TRUE(found.insert({edge.head, edge.modifier}).second);
      }
      for (std::size_t h = 0; h < side; ++h) {
        for (std::size_t m = 1; m < side; ++m) {
          const bool drawn = p[h * side + m] >= threshold && p[h * side + m] > 0 && h != m;
          EXPECT_EQ(found.contains({static_cast<int>(h), static_cast<int>(m)}), drawn);
        }
      }
      if (threshold == 0.01) expect_golden(std::string(example.name) + "-marginals", svg);
    }
  }
}

std::string percent_of(double p) {
  const auto whole = static_cast<int>(std::lround(100 * p));
  if (whole == 0) return "<1%";
  if (whole == 100 && p < 1) return ">99%";
  return std::to_string(whole) + "%";
}

// Of every sentence, with labels and without: each edge bears its probability or, with its label,
// the probability of both. No two texts meet, and hardly any line runs through one.
TEST(MarginalsSvg, WritesOnEveryEdge) {
  Sequence random(8);
  const Strings names = {"det", "nsubj:pass", "", "acl:relcl", "x", "compound:prt"};
  int crowded = 0;
  int texts = 0;
  for (int round = 0; round < 100; ++round) {
    const int n = 1 + random.below(20);
    const std::vector<double> p = marginals_near(random_projective_tree(n, random), 6, random);
    const auto side = static_cast<std::size_t>(n) + 1;
    Strings labels;
    std::vector<double> with_label;
    if (round % 2 == 1) {
      for (std::size_t e = 0; e < p.size(); ++e) {
        labels.push_back(names[static_cast<std::size_t>(random.below(6))]);
        with_label.push_back(p[e] * (1 + random.below(10)) / 10);
      }
    }
    const Drawing drawing = read_drawing(marginals_svg({}, p, labeled(labels, with_label)));
    expect_sound(drawing);
    std::map<std::pair<int, int>, std::string> on_edge;
    std::vector<Box> boxes;
    for (const DrawnText& text : drawing.labels) {
      const bool is_root = text.text == "ROOT";
      if (!is_root) {
        EXPECT_TRUE(on_edge.emplace(std::pair(text.head, text.of), text.text).second);
      }
      const Box box = box_of(text, 10.5);
      EXPECT_GE(box.left, 0);
      EXPECT_LE(box.right, drawing.width);
      for (const Box& other : boxes) EXPECT_FALSE(box.meets(other)) << text.text;
      boxes.push_back(box);
      crowded +=
          std::any_of(drawing.edges.begin(), drawing.edges.end(), [&](const DrawnEdge& edge) {
            return std::any_of(edge.line.begin(), edge.line.end(),
                               [&](const Point& point) { return box.holds(point); });
          });
      ++texts;
    }
    EXPECT_EQ(on_edge.size(), drawing.edges.size());
    for (const DrawnEdge& edge : drawing.edges) {
      const std::size_t at =
          static_cast<std::size_t>(edge.head) * side + static_cast<std::size_t>(edge.modifier);
      const std::string label = labels.empty() ? "" : labels[at];
      EXPECT_EQ(edge.label, label);
      // The threshold, the stroke and data-p go by the edge; the number beside a label does not.
      EXPECT_NEAR(edge.probability, p[at], 5e-4 * p[at]);
      EXPECT_EQ((on_edge[{edge.head, edge.modifier}]),
                label.empty() ? percent_of(p[at]) : label + " " + percent_of(with_label[at]));
      if (!label.empty()) {
        EXPECT_NEAR(edge.with_label, with_label[at], 5e-4 * with_label[at]);
      }
    }
  }
  EXPECT_LT(crowded, texts / 20);
}

// A page asks for edges down to a floor, and for texts on fewer of them.
TEST(MarginalsSvg, WritesFromAProbabilityOn) {
  Sequence random(9);
  const Tree heads = random_tree(30, random);
  const std::vector<double> p = marginals_near(heads, 3, random);
  std::vector<std::uint8_t> also(p.size(), 0);
  std::size_t asked = 0;
  for (std::size_t e = 0; e < p.size(); e += 41) {
    if (e % 31 != 0 && e / 31 != e % 31) asked += also[e] = 1;
  }
  SvgOptions options = from(0.001);
  options.text_from = 0.05;
  options.also = also;
  const auto texts = [](const Drawing& drawing) {
    return std::count_if(drawing.labels.begin(), drawing.labels.end(),
                         [](const DrawnText& text) { return text.text != "ROOT"; });
  };
  EXPECT_EQ(texts(read_drawing(marginals_svg({}, p, options))),
            std::count_if(p.begin(), p.end(), [](double x) { return x >= 0.05; }));
  const Strings labels(p.size(), "l");
  options.labels = labels;
  options.label_probabilities = p;
  const Drawing drawing = read_drawing(marginals_svg({}, p, options));
  expect_sound(drawing);
  std::set<std::pair<int, int>> written;
  for (const DrawnText& text : drawing.labels) {
    if (text.text != "ROOT") written.insert({text.head, text.of});
  }
  std::size_t faint = 0;
  double top = drawing.height;
  for (const DrawnEdge& edge : drawing.edges) {
    const std::size_t at =
        static_cast<std::size_t>(edge.head) * 31 + static_cast<std::size_t>(edge.modifier);
    EXPECT_EQ(written.contains({edge.head, edge.modifier}), p[at] >= 0.05 || also[at] != 0);
    faint += p[at] < 0.05 ? 1U : 0U;
    if (edge.head == 0 || p[at] < 0.05) continue;
    for (const Point& point : edge.line) top = std::min(top, point.y);
  }
  EXPECT_GT(faint, 100U);
  EXPECT_GT(asked, 5U);
  // Faint arcs are kept below the others, so that they do not leave an empty space when hidden.
  EXPECT_LE(top, std::max(60.0, drawing.height - 210));
}

// A page hides arcs without texts; nothing else may move.
TEST(MarginalsSvg, LeavesArcsWhereTheyAre) {
  Sequence random(4);
  const Tree heads = random_tree(12, random);
  const std::vector<double> p = marginals_near(heads, 2, random);
  const auto shapes = [&](double threshold) {
    std::map<std::pair<int, int>, std::vector<double>> found;
    SvgOptions options = from(threshold);
    options.text_from = 0.1;
    for (const DrawnEdge& edge : read_drawing(marginals_svg({}, p, options)).edges) {
      if (edge.head == 0) continue;
      double top = edge.begin.y;
      for (const Point& point : edge.line) top = std::min(top, point.y);
      found[{edge.head, edge.modifier}] = {edge.begin.x, edge.end.x, edge.begin.y - top};
    }
    return found;
  };
  auto all = shapes(0);
  for (const auto& [edge, shape] : shapes(0.1)) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(shape[i], all[edge][i], 0.11);
  }
}

// "100%" and a data-p of 1 stand for exactly 1, however near a probability is.
TEST(MarginalsSvg, CertainIsExactlyOne) {
  const double near = std::nextafter(1.0, 0.0);
  for (const double p : {1.0, near, 1 - 1e-10, 0.99996}) {
    const std::vector<double> matrix = {0, p, 0, 0};
    const Drawing drawing = read_drawing(marginals_svg({}, matrix));
    EXPECT_EQ(drawing.edges[0].probability, p < 1 ? 0.9999 : 1) << p;
    EXPECT_TRUE(std::any_of(drawing.labels.begin(), drawing.labels.end(), [&](const auto& text) {
      return text.text == (p < 1 ? ">99%" : "100%");
    })) << p;
  }
}

TEST(MarginalsSvg, DrawsWhatIsAskedForWhateverItsProbability) {
  std::vector<double> p = {0, 1, 0, 0, 0, 1, 0, 0, 0};
  std::vector<std::uint8_t> also(9, 0);
  also[2] = 1;  // 0 -> 2, of probability 0.
  SvgOptions options;
  options.also = also;
  EXPECT_EQ(read_drawing(marginals_svg({}, p, options)).edges.size(), 3U);
  EXPECT_EQ(read_drawing(marginals_svg({}, p)).edges.size(), 2U);
}

TEST(MarginalsSvg, RefusesWhatDoesNotFit) {
  const std::vector<double> good = {0, 1, 0, 0, 0, 1, 0, 0, 0};
  const auto refuse = [](const Strings& words, const std::vector<double>& p,
                         const SvgOptions& options = {}) {
    expect_misuse("marginals_svg", [&] { (void)marginals_svg(words, p, options); });
  };
  EXPECT_NO_THROW((void)marginals_svg({}, good));
  refuse({"a"}, good);
  refuse({"a", "b", "c"}, good);
  refuse({}, {});
  refuse({}, {0, 1, 0});
  refuse({}, good, from(-0.1));
  refuse({}, good, from(1.1));
  refuse({}, good, from(std::numeric_limits<double>::quiet_NaN()));
  SvgOptions options;
  const std::vector<std::uint8_t> also(4);
  options.also = also;
  refuse({}, good, options);
  const Strings labels = {"x", "y"};
  refuse({}, good, labeled(labels, {1, 1}));
  const Strings names(9, "x");
  refuse({}, good, labeled(names));  // Without their probabilities.
  const std::vector<double> few(4, 0.5);
  refuse({}, good, labeled(names, few));
  refuse({}, good, labeled({}, good));
  std::vector<double> wrong_label(9, 0.5);
  EXPECT_NO_THROW((void)marginals_svg({}, good, labeled(names, wrong_label)));
  wrong_label[5] = 1.1;
  refuse({}, good, labeled(names, wrong_label));
  for (const double bad : {-0.1, 1.1, double{NAN}}) {
    SvgOptions wrong;
    wrong.text_from = bad;
    refuse({}, good, wrong);
  }
  for (const double bad : {-1e-9, 1.1, double{NAN}, HUGE_VAL}) {
    std::vector<double> p = good;
    p[1] = bad;
    refuse({}, p);
    p = good;
    p[0] = p[3] = p[4] = bad;  // Column 0 and the diagonal.
    EXPECT_NO_THROW((void)marginals_svg({}, p));
  }
}

TEST(Stack, SeparatesWhatOverlaps) {
  Sequence random(5);
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + random.below(30);
    const Tree heads = random_tree(n, random);
    std::vector<detail::Arc> arcs = detail::tree_arcs(heads, 0, "test");
    const int highest = detail::stack(arcs, static_cast<std::size_t>(n) + 1);
    EXPECT_GE(highest, 1);
    EXPECT_LE(highest, n);
    for (const auto& a : arcs) {
      EXPECT_GE(a.level, 1);
      for (const auto& b : arcs) {
        if (&a == &b || a.left() >= b.right() || b.left() >= a.right()) continue;
        EXPECT_NE(a.level, b.level);
        if (a.right() - a.left() < b.right() - b.left()) {
          EXPECT_LT(a.level, b.level);
        }
      }
    }
  }
}

}  // namespace
}  // namespace taproot
