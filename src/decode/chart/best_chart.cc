// SPDX-License-Identifier: Apache-2.0
#include "decode/chart/best_chart.h"

#include <algorithm>
#include <cmath>

#include "projective/fill_chart.h"
#include "projective/inside.h"

namespace taproot::detail {

Outcome BestChart::build(const ScoreView& scores, RootRule root) {
  const Outcome outcome = load_scores(scores, root, table_);
  if (!outcome.ok()) return outcome;
  const int n = table_.n;
  shape_ = chart_shape(n, root);
  double* tops = tops_.resize(table_.ld);
  std::fill_n(tops, table_.ld, -HUGE_VAL);
  for (int h = shape_.first; h <= n; ++h) {
    const double* row = table_.row(h);
    for (std::size_t m = 0; m < table_.ld; ++m) tops[m] = std::max(tops[m], row[m]);
  }
  // A column without a score has none to subtract from.
  for (std::size_t m = 0; m < table_.ld; ++m) tops[m] = tops[m] == -HUGE_VAL ? 0.0 : tops[m];
  const ChartView<double> c(memory_.resize(shape_.memory(kChartTables)), shape_, kChartTables);
  load_diagonals(c, table_.row(0), table_.ld, -HUGE_VAL,
                 [&](int, int m, double score) { return score - tops[m]; });
  inside_best(c);
  // Each edge is rounded once when its top is subtracted, and at most three times when it is added.
  relative_error_ = 8 * (n + 2) * 0x1p-53;
  if (!shape_.single()) return c(kRight, n, 0) > -HUGE_VAL ? Outcome{} : Outcome{Status::kNoTree};
  const ChartCell top{ChartCell::kRoot, n - 1, 0};
  for (int m = 0; m < n; ++m) {
    if (value(top, m) > -HUGE_VAL) return {};
  }
  return {Status::kNoTree};
}

double BestChart::value(const ChartCell& cell, int e) const {
  const ChartView<const double> c = view();
  if (cell.kind == ChartCell::kRoot) {
    return c.roots()[e] + (c(kLeft, e, 0) + c(kRight, shape_.size - 1 - e, e));
  }
  const ChartProducts<double> factors = products_of(c, cell);
  return factors.a[e * factors.up] + factors.b[e * (1 - factors.up)];
}

bool BestChart::walk(std::int32_t* heads, Buffer<ChartCell>& cells) const {
  const ChartView<const double> c = view();
  ChartCell* stack = cells.resize(2 * shape_.rows() + 2);
  ChartCell* top = stack;
  const auto attach = [&](int modifier, int head) {
    heads[node(modifier) - 1] = head < 0 ? 0 : node(head);
  };
  const auto push = [&](const ChartCell& cell) { *top++ = cell; };
  start_walk(shape_, attach, push);
  while (top != stack) {
    const ChartCell cell = *--top;
    int best = 0;
    double first = -HUGE_VAL;
    double second = -HUGE_VAL;
    const auto consider = [&](int e, double x) {
      second = std::max(second, std::min(first, x));
      best = x > first ? e : best;
      first = std::max(first, x);
    };
    double error = 0;
    if (cell.kind == ChartCell::kRoot) {
      for (int m = 0; m < shape_.size; ++m) {
        const double x = value(cell, m);
        consider(m, x);
        // ROOT edges may have the other sign, so that a small sum may have large terms.
        if (x > -HUGE_VAL) error = std::max(error, tolerance(4 * c.roots()[m], 4 * x));
      }
    } else {
      const ChartProducts<double> factors = products_of(c, cell);
      const double* a = factors.a;
      const double* b = factors.b;
      for (int e = 0; e < cell.d; ++e, a += factors.up, b += 1 - factors.up) consider(e, *a + *b);
      error = second > -HUGE_VAL ? tolerance(first, second) : 0.0;
    }
    if (!(first - second > error)) return false;
    take_choice(shape_, cell, best, attach, push);
  }
  return true;
}

}  // namespace taproot::detail
