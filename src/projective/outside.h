// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "projective/chart.h"

namespace taproot::detail {

/// Writes the marginals of all edges between positions of a chart that inside() has filled, to
/// rows and columns that are nodes: entry (h, m) is p.data[h * p.head_stride + m]. The diagonal is
/// not written. `seed` is 1 / Z. `out` has the memory of kOutsideTables tables. n^3 multiply-adds.
/// outside_simply() in simply.h is the definition.
void outside(const ChartView<const double>& chart, double seed, const ChartView<double>& out,
             EdgeMatrix p);

/// The derivatives of the marginals, times `scale`, from a chart that inside_dual() has filled.
/// `slope` doubles behind each number of `chart` and `out` is its derivative. `seed` and
/// `seed_slope` are 1 / Z and its derivative.
void outside_dual(const ChartView<const double>& chart, double seed, double seed_slope,
                  const ChartView<double>& out, std::ptrdiff_t chart_slope,
                  std::ptrdiff_t out_slope, double scale, EdgeMatrix derivative);

}  // namespace taproot::detail
