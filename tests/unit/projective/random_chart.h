// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "projective/fill_chart.h"

namespace taproot::detail {

/// Fills the weights of a chart with exp(x), x uniform in (-spread, spread), or with x itself; some
/// edges are missing. What kernels must not use holds NaN.
class RandomChart {
 public:
  RandomChart(int n, RootRule root, double spread, bool scores = false)
      : shape(chart_shape(n, root)) {
    const std::size_t size = shape.memory(kChartTables);
    std::fill_n(memory.resize(size), size, NAN);
    const std::size_t ld = leading_dimension(n);
    Buffer<double> matrix;
    std::fill_n(matrix.resize(node_count(n) * ld), node_count(n) * ld, 0.0);
    Stream stream(stream_key(11, static_cast<std::uint32_t>(n)), 0, Purpose::kTree);
    const double zero = scores ? -HUGE_VAL : 0.0;
    load_diagonals(view(), matrix.data(), ld, zero, [&](int, int m, double) {
      const double x = (2 * stream.uniform() - 1) * spread;
      if (m == 0 || (n > 4 && stream.uniform() < 0.1)) return zero;
      return scores ? x : std::exp(x);
    });
  }

  ChartView<double> view() { return {memory.data(), shape, kChartTables}; }

  ChartShape shape;
  Buffer<double> memory;
};

}  // namespace taproot::detail
