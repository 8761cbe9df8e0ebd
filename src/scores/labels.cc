// SPDX-License-Identifier: Apache-2.0
#include "taproot/labels.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/random.h"

namespace taproot {
namespace {

void check_view(const void* data, int n, int labels) {
  detail::require(n >= 0, "LabelView", "the number of words is negative");
  detail::require(labels >= 1, "LabelView", "there must be at least one label");
  detail::require(data != nullptr || n == 0, "LabelView", "data is null");
}

double largest(const LabelView& labels, int h, int m) {
  double top = -HUGE_VAL;
  for (int l = 0; l < labels.labels(); ++l) {
    const double x = labels(h, m, l);
    if (!(x < HUGE_VAL)) return NAN;
    top = std::max(top, x);
  }
  return top;
}

std::int32_t best_label(const LabelView& labels, int h, int m) {
  std::int32_t best = 0;
  for (std::int32_t l = 1; l < labels.labels(); ++l) {
    if (labels(h, m, l) > labels(h, m, best)) best = l;
  }
  return best;
}

// sum_l exp(L[h][m][l] - top).
double sum_above(const LabelView& labels, int h, int m, double top) {
  double sum = 0;
  for (int l = 0; l < labels.labels(); ++l) sum += std::exp(labels(h, m, l) - top);
  return sum;
}

double log_sum(const LabelView& labels, int h, int m) {
  const double top = largest(labels, h, m);
  return std::isfinite(top) ? top + std::log(sum_above(labels, h, m, top)) : top;
}

void check_tree(const char* function, const LabelView& labels, TreeView heads, std::size_t out) {
  const auto n = static_cast<std::size_t>(labels.n());
  detail::require(heads.size() == n && out == n, function, "heads and labels must have n entries");
  for (std::size_t i = 0; i < n; ++i) {
    detail::require(
        heads[i] >= 0 && heads[i] <= labels.n() && heads[i] != static_cast<std::int32_t>(i) + 1,
        function, "a head is outside 0..n or the word itself");
  }
}

void check_labels(const char* function, const LabelView& labels,
                  std::span<const std::int32_t> of_words) {
  for (const std::int32_t l : of_words) {
    detail::require(l >= 0 && l < labels.labels(), function, "a label is outside 0..labels-1");
  }
}

}  // namespace

LabelView::LabelView(const float* data, int n, int labels, std::ptrdiff_t head_stride,
                     std::ptrdiff_t modifier_stride, std::ptrdiff_t label_stride)
    : data_(data),
      n_(n),
      labels_(labels),
      is_double_(false),
      head_stride_(head_stride),
      modifier_stride_(modifier_stride),
      label_stride_(label_stride) {
  check_view(data, n, labels);
}

LabelView::LabelView(const double* data, int n, int labels, std::ptrdiff_t head_stride,
                     std::ptrdiff_t modifier_stride, std::ptrdiff_t label_stride)
    : data_(data),
      n_(n),
      labels_(labels),
      is_double_(true),
      head_stride_(head_stride),
      modifier_stride_(modifier_stride),
      label_stride_(label_stride) {
  check_view(data, n, labels);
}

LabelView::LabelView(const float* data, int n, int labels)
    : LabelView(data, n, labels, (std::ptrdiff_t{n} + 1) * labels, labels, 1) {}

LabelView::LabelView(const double* data, int n, int labels)
    : LabelView(data, n, labels, (std::ptrdiff_t{n} + 1) * labels, labels, 1) {}

ScoreView add_labels(const ScoreView& scores, const LabelView& labels, LabelSum sum,
                     std::vector<double>& memory) {
  const int n = scores.n();
  detail::require(labels.n() == n, "add_labels", "scores and labels differ in length");
  const std::size_t side = static_cast<std::size_t>(n) + 1;
  memory.resize(side * side);
  for (int h = 0; h <= n; ++h) {
    for (int m = 0; m <= n; ++m) {
      if (h == m || m == 0) {
        memory[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)] = -HUGE_VAL;
        continue;
      }
      const double s = scores(h, m);
      const double of_labels =
          sum == LabelSum::kMax ? largest(labels, h, m) : log_sum(labels, h, m);
      // A forbidden edge with a bad label becomes NaN here, so it is reported, too.
      memory[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)] = s + of_labels;
    }
  }
  return {memory.data(), n};
}

void best_labels(const LabelView& labels, TreeView heads, std::span<std::int32_t> out) {
  check_tree("best_labels", labels, heads, out.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    out[i] = best_label(labels, heads[i], static_cast<int>(i) + 1);
  }
}

void best_edge_labels(const LabelView& labels, std::span<std::int32_t> out) {
  const std::size_t side = static_cast<std::size_t>(labels.n()) + 1;
  detail::require(out.size() == side * side, "best_edge_labels", "out must be [n+1][n+1]");
  for (int h = 0; h <= labels.n(); ++h) {
    for (int m = 0; m <= labels.n(); ++m) {
      out[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)] =
          m == 0 || h == m ? 0 : best_label(labels, h, m);
    }
  }
}

void sample_labels(const LabelView& labels, TreeView heads, std::uint64_t seed, std::uint64_t id,
                   std::uint32_t sample, std::span<std::int32_t> out) {
  check_tree("sample_labels", labels, heads, out.size());
  detail::Stream stream(detail::stream_key(seed, id), sample, detail::Purpose::kLabel);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const int m = static_cast<int>(i) + 1;
    const double top = largest(labels, heads[i], m);
    detail::require(std::isfinite(top), "sample_labels", "an edge of the tree has no label");
    const double target = stream.uniform() * sum_above(labels, heads[i], m, top);
    double running = 0;
    for (std::int32_t l = 0; l < labels.labels(); ++l) {
      const double weight = std::exp(labels(heads[i], m, l) - top);
      if (!(weight > 0)) continue;
      out[i] = l;  // What rounding leaves over belongs to the last possible one.
      running += weight;
      if (running > target) break;
    }
  }
}

double labels_log_prob(const LabelView& labels, TreeView heads,
                       std::span<const std::int32_t> of_words) {
  check_tree("labels_log_prob", labels, heads, of_words.size());
  check_labels("labels_log_prob", labels, of_words);
  double sum = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const int m = static_cast<int>(i) + 1;
    const double top = largest(labels, heads[i], m);
    const double own = labels(heads[i], m, of_words[i]);
    sum += own == -HUGE_VAL ? own : (own - top) - std::log(sum_above(labels, heads[i], m, top));
  }
  return sum;
}

double labels_score(const LabelView& labels, TreeView heads,
                    std::span<const std::int32_t> of_words) {
  check_tree("labels_score", labels, heads, of_words.size());
  check_labels("labels_score", labels, of_words);
  double sum = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    sum += labels(heads[i], static_cast<int>(i) + 1, of_words[i]);
  }
  return sum;
}

void label_marginals(const LabelView& labels, std::span<const double> edge_marginals,
                     std::span<double> out) {
  const int n = labels.n();
  const std::size_t side = static_cast<std::size_t>(n) + 1;
  const auto count = static_cast<std::size_t>(labels.labels());
  detail::require(edge_marginals.size() == side * side && out.size() == side * side * count,
                  "label_marginals", "marginals must be [n+1][n+1] and out [n+1][n+1][labels]");
  for (int h = 0; h <= n; ++h) {
    for (int m = 0; m <= n; ++m) {
      const std::size_t at = static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m);
      const double p = edge_marginals[at];
      double* to = out.data() + at * count;
      std::fill_n(to, count, 0.0);
      if (!(p > 0)) continue;
      const double top = largest(labels, h, m);
      detail::require(std::isfinite(top), "label_marginals",
                      "an edge with a positive marginal has no label");
      const double sum = sum_above(labels, h, m, top);
      for (std::size_t l = 0; l < count; ++l) {
        // The quotient first: it is at most 1, and the product then at most p.
        to[l] = p * (std::exp(labels(h, m, static_cast<int>(l)) - top) / sum);
      }
    }
  }
}

}  // namespace taproot
