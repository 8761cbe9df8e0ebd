// SPDX-License-Identifier: Apache-2.0
#include "draw/arcs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/check.h"
#include "core/matrix_view.h"
#include "taproot/draw.h"

namespace taproot::detail {

std::vector<Arc> tree_arcs(TreeView heads, std::size_t words, const char* function) {
  require(words == 0 || words == heads.size(), function,
          "there must be one word per head, or none");
  require(heads.size() < std::size_t{1} << 28U, function, "too many heads");
  const int n = static_cast<int>(heads.size());
  std::vector<Arc> arcs;
  arcs.reserve(heads.size());
  int m = 0;
  for (const std::int32_t h : heads) {
    ++m;
    require(h >= 0 && h <= n, function, "a head is outside 0..n");
    require(h != m, function, "a word is its own head");
    arcs.push_back({h, m, 1, 0});
  }
  return arcs;
}

int side_of(std::size_t entries) {
  const auto side = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(entries))));
  return side * side == entries && side < std::size_t{1} << 28U ? static_cast<int>(side) - 1 : -1;
}

std::vector<Arc> marginal_arcs(std::span<const double> marginals, std::size_t words,
                               double threshold, std::span<const std::uint8_t> also,
                               std::span<const std::string> labels, const char* function) {
  const int n = side_of(marginals.size());
  require(n >= 0, function, "marginals must be a matrix [n+1][n+1]");
  require(words == 0 || words == node_count(n) - 1, function, "there must be n words, or none");
  require(threshold >= 0 && threshold <= 1, function, "the threshold must be in [0, 1]");
  require(also.empty() || also.size() == marginals.size(), function,
          "also must be a matrix [n+1][n+1], or empty");
  require(labels.empty() || labels.size() == marginals.size(), function,
          "the labels of edges must be a matrix [n+1][n+1], or empty");
  const MatrixView marginal(marginals.data(), node_count(n));
  const MatrixView asked(also.data(), node_count(n));
  std::vector<Arc> arcs;
  for (int m = 1; m <= n; ++m) {
    for (int h = 0; h <= n; ++h) {
      if (h == m) continue;
      const double p = marginal(h, m);
      require(p >= 0 && p <= 1 + 1e-6, function, "a marginal is not a probability");
      const bool is_asked = !also.empty() && asked(h, m) != 0;
      if (is_asked || (p > 0 && p >= threshold)) arcs.push_back({h, m, std::min(p, 1.0), 0});
    }
  }
  return arcs;
}

std::string arc_text(const Arc& arc, std::span<const std::string> labels, int n) {
  const double p = arc.probability;
  const auto whole = std::lround(100 * p);
  std::string number = std::to_string(whole) + "%";
  if (whole == 0 && p > 0) number = "<1%";
  if (whole == 100 && p < 1 - 1e-9) number = ">99%";
  if (labels.empty()) return number;
  const std::string& label = MatrixView(labels.data(), node_count(n))(arc.head, arc.modifier);
  return label.empty() ? number : shown_text(label) + " " + number;
}

Weight weight_of(const Arc& arc) {
  return arc.probability >= 0.75   ? Weight::kHeavy
         : arc.probability >= 0.25 ? Weight::kLight
                                   : Weight::kDashed;
}

int stack(std::span<Arc> arcs, std::size_t nodes) {
  const auto begin_of = [](const Arc& arc) {
    return 3 * arc.left() + (arc.head < arc.modifier ? kRight : kMiddle);
  };
  const auto end_of = [](const Arc& arc) {
    return 3 * arc.right() + (arc.head < arc.modifier ? kMiddle : kLeft);
  };
  std::vector<std::size_t> order(arcs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return end_of(arcs[a]) - begin_of(arcs[a]) < end_of(arcs[b]) - begin_of(arcs[b]);
  });
  // The highest level so far at each of three ports per node.
  std::vector<int> sky(3 * nodes, 0);
  int highest = 0;
  for (const std::size_t i : order) {
    const auto first = sky.begin() + begin_of(arcs[i]);
    const auto last = sky.begin() + end_of(arcs[i]) + 1;
    arcs[i].level = *std::max_element(first, last) + 1;
    std::fill(first, last, arcs[i].level);
    highest = std::max(highest, arcs[i].level);
  }
  return highest;
}

}  // namespace taproot::detail
