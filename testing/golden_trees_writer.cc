// SPDX-License-Identifier: Apache-2.0
//
// golden_trees FILE: samples the golden trees and writes tests/golden/trees.json, one graph and one
// case per line. To be run when the format changes on purpose, and only then.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "testing/golden_trees.h"
#include "testing/linear_congruential.h"
#include "testing/targets.h"

namespace taproot::oracle {
namespace {

// Multiples of 1/8 in [-size, size].
double eighths(LinearCongruential& random, int size) {
  return (static_cast<double>(random.below(static_cast<std::uint64_t>(16 * size + 1))) - 8 * size) /
         8;
}

// score(h, m) at every edge; the rest is -inf.
template <typename Score>
GoldenGraph graph_of(const std::string& name, int n, Score&& score) {
  const auto side = static_cast<std::size_t>(n) + 1;
  GoldenGraph graph{name, n, std::vector<double>(side * side, -HUGE_VAL), 0, {}};
  for (int h = 0; h <= n; ++h) {
    for (int m = 1; m <= n; ++m) {
      const double s = score(h, m);
      if (h != m) graph.scores[static_cast<std::size_t>(h * (n + 1) + m)] = s;
    }
  }
  return graph;
}

GoldenGraph plain(const std::string& name, int n, std::uint64_t seed) {
  LinearCongruential random(seed);
  return graph_of(name, n, [&](int, int) { return eighths(random, 2); });
}

// Words 2i-1 and 2i attract each other: the walk is trapped between them.
GoldenGraph pairs(const std::string& name, int n, double gap, std::uint64_t seed) {
  LinearCongruential random(seed);
  return graph_of(name, n, [&](int h, int m) {
    const double s = eighths(random, 1);
    return h > 0 && (h + 1) / 2 == (m + 1) / 2 ? 0.125 * s : s - gap;
  });
}

std::vector<GoldenGraph> all_graphs() {
  std::vector<GoldenGraph> graphs{plain("two", 2, 1), plain("three", 3, 2), plain("five", 5, 3)};
  // A third of the edges; those of a chain among them.
  LinearCongruential random(4);
  graphs.push_back(graph_of("sparse", 7, [&](int h, int m) {
    const double s = eighths(random, 2);
    return h + 1 == m || random.below(3) == 0 ? s : -HUGE_VAL;
  }));
  // Walks take more steps than auto allows them: now and then, and most of the time.
  graphs.push_back(pairs("pairs", 8, 5, 5));
  LinearCongruential tails(11);
  graphs.push_back(graph_of("heavy-tailed", 10, [&](int, int) {
    const double s = eighths(tails, 3);
    return 8 * s * std::abs(s);
  }));
  // The likely heads form a ring, so that all words together, not one of them, take too many heads.
  LinearCongruential ring(12);
  graphs.push_back(graph_of("ring", 20, [&](int h, int m) {
    const double s = eighths(ring, 1);
    return h > 0 && m == h % 20 + 1 ? 0.125 * s : s - 5;
  }));
  graphs.push_back(plain("twelve", 12, 6));
  graphs.push_back(plain("forty", 40, 7));
  graphs.push_back(pairs("beyond-double", 6, 900, 8));
  GoldenGraph labeled = plain("labeled", 4, 9);
  labeled.labels = 3;
  for (int i = 0; i < 25 * 3; ++i) {
    // One label is left to every edge.
    const double s = eighths(random, 2);
    labeled.label_scores.push_back(i % 3 > 0 && random.below(4) == 0 ? -HUGE_VAL : s);
  }
  graphs.push_back(labeled);
  return graphs;
}

// Whether Wilson's walk ends on it within a second.
bool may_walk(const GoldenGraph& graph) {
  return graph.name != "beyond-double" && graph.name != "heavy-tailed";
}

std::vector<GoldenTrees> questions(const GoldenGraph& graph) {
  std::vector<GoldenTrees> all;
  const std::size_t k = graph.n < 40 ? 6 : 4;
  for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
    std::vector<std::string> with{"auto", "elimination", "colbourn"};
    if (may_walk(graph)) {
      const std::vector<std::string> walks =
          root == RootRule::kSingle
              ? std::vector<std::string>{"wilson-marginal", "wilson-reject", "wilson-rc"}
              : std::vector<std::string>{"wilson"};
      with.insert(with.end(), walks.begin(), walks.end());
    }
    const auto ask = [&](bool replacement, const std::string& algorithm,
                         TreeFamily family = TreeFamily::kAll) {
      GoldenTrees question;
      question.graph = graph.name;
      question.root = root;
      question.family = family;
      question.replacement = replacement;
      question.algorithm = algorithm;
      // Many trees where the budget of auto's walks decides.
      const bool on_budget =
          family == TreeFamily::kAll && (graph.name == "pairs" || graph.name == "ring");
      question.k = replacement && algorithm == "auto" && on_budget ? 60 : k;
      question.seed = 1;
      if (family == TreeFamily::kAll) all.push_back(question);  // The file is to stay small.
      question.seed = 0x9e3779b97f4a7c15;
      question.id = (std::uint64_t{1} << 32) + 7;  // Both halves of an id count.
      if (replacement) question.first_tree = 0xffffff00;
      all.push_back(question);
      // When auto stops skipping repeats depends on the mass that is left: several ways to get
      // there.
      if (replacement || algorithm != "auto" || graph.n > 5) return;
      question.seed = 2;
      question.k = 12;
      const std::uint64_t ways = family == TreeFamily::kAll ? 6 : 2;
      for (question.id = 1; question.id <= ways; ++question.id) all.push_back(question);
    };
    for (const std::string& algorithm : with) ask(true, algorithm);
    for (const char* algorithm : {"auto", "trie", "beam", "list"}) ask(false, algorithm);
    ask(true, "auto", TreeFamily::kProjective);
    for (const char* algorithm : {"auto", "trie", "beam"}) {
      if (graph.n <= 12) ask(false, algorithm, TreeFamily::kProjective);
    }
  }
  return all;
}

std::string number(double x) {
  if (x == -HUGE_VAL) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", x);
  return text;
}

template <typename Items, typename Text>
std::string list(const Items& items, Text&& text) {
  std::string joined = "[";
  for (std::size_t i = 0; i < items.size(); ++i) joined += (i == 0 ? "" : ",") + text(items[i]);
  return joined + "]";
}

std::string integers(const std::vector<std::int32_t>& values) {
  return list(values, [](std::int32_t value) { return std::to_string(value); });
}

// Rows of `length` numbers.
std::string rows(const std::vector<double>& values, std::size_t length) {
  std::vector<std::vector<double>> parts;
  for (std::size_t i = 0; i < values.size(); i += length) {
    parts.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                       values.begin() + static_cast<std::ptrdiff_t>(i + length));
  }
  return list(parts, [](const auto& part) { return list(part, number); });
}

std::string line(const GoldenGraph& graph) {
  const std::size_t side = static_cast<std::size_t>(graph.n) + 1;
  std::string text = "{\"name\":\"" + graph.name + "\",\"n\":" + std::to_string(graph.n) +
                     ",\"scores\":" + rows(graph.scores, side);
  if (graph.labels > 0) {
    const auto labels = static_cast<std::size_t>(graph.labels);
    std::string heads;
    for (std::size_t h = 0; h < side; ++h) {
      const auto begin =
          graph.label_scores.begin() + static_cast<std::ptrdiff_t>(h * side * labels);
      const std::vector<double> of_head(begin, begin + static_cast<std::ptrdiff_t>(side * labels));
      heads += (h == 0 ? "" : ",") + rows(of_head, labels);
    }
    text += ",\"label_scores\":[" + heads + "]";
  }
  return text + "}";
}

// What has its usual value is left out, because the file is to stay small.
std::string line(const GoldenTrees& golden) {
  std::string text =
      "{\"graph\":\"" + golden.graph + "\",\"root\":\"" + std::string(to_string(golden.root)) +
      (golden.family == TreeFamily::kProjective ? "\",\"family\":\"projective" : "") +
      (golden.replacement ? "\"" : "\",\"replacement\":false") + ",\"algorithm\":\"" +
      golden.algorithm + "\",\"seed\":" + std::to_string(golden.seed);
  if (golden.id != 0) text += ",\"id\":" + std::to_string(golden.id);
  if (golden.first_tree != 0) text += ",\"first_tree\":" + std::to_string(golden.first_tree);
  text += ",\"k\":" + std::to_string(golden.k) + ",\"trees\":" + list(golden.trees, integers);
  if (!golden.labels.empty()) text += ",\"labels\":" + list(golden.labels, integers);
  if (golden.fallbacks != 0) text += ",\"fallbacks\":" + std::to_string(golden.fallbacks);
  if (!golden.replacement) {
    text += ",\"log_prob\":" + list(golden.log_prob, number) +
            ",\"gumbel\":" + list(golden.gumbel, number) + ",\"kappa\":" + number(golden.kappa);
    if (golden.exhausted) text += ",\"exhausted\":true";
  }
  if (golden.needs_fused_multiply_add) text += ",\"needs_fused_multiply_add\":true";
  return text + "}";
}

// The answer, which all targets with a fused multiply-add must share.
GoldenTrees answer(const GoldenTrees& question, const GoldenGraph& graph, bool& sound) {
  GoldenTrees golden = sampled(question, graph);
  for (const std::int64_t target : compiled_targets()) {
    const TargetScope scope(target);
    std::string difference;
    if (agree(golden, sampled(question, graph), difference)) continue;
    std::fprintf(stderr, "%s: %s of %s differ\n", golden.name().c_str(), difference.c_str(),
                 hwy::TargetName(target));
    golden.needs_fused_multiply_add = true;
    sound = sound && !has_fused_multiply_add(target);
  }
  return golden;
}

int write(const char* path) {
  std::string graph_lines;
  std::string case_lines;
  bool sound = true;
  for (const GoldenGraph& graph : all_graphs()) {
    graph_lines += (graph_lines.empty() ? "" : ",\n") + line(graph);
    for (const GoldenTrees& question : questions(graph)) {
      case_lines += (case_lines.empty() ? "" : ",\n") + line(answer(question, graph, sound));
    }
  }
  if (!sound) return std::fprintf(stderr, "targets with a fused multiply-add differ\n"), 1;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return std::fprintf(stderr, "cannot write %s\n", path), 1;
  std::fprintf(file,
               "{\"about\": \"Trees that seeds give. scores[head][modifier], index 0 is ROOT, null "
               "is -inf; trees are heads of words 1 to n. Written by golden_trees.\",\n"
               "\"graphs\": [\n%s],\n\"cases\": [\n%s]}\n",
               graph_lines.c_str(), case_lines.c_str());
  return std::fclose(file) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace taproot::oracle

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: golden_trees FILE\n"), 2;
  return taproot::oracle::write(arguments[1]);
}
