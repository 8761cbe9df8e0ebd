// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "projective/chart.h"

namespace taproot::detail {

/// Fills the inside tables of a chart from its two tables of weights, which must be finite (under
/// (max, +): not NaN and not +inf) up to the end of the block of 8 that holds a row's last entry.
/// n^3/2 multiply-adds. inside_simply() in simply.h is the definition.
void inside(const ChartView<double>& chart);

/// The same over (max, +), where weights are scores and -inf is the zero.
void inside_best(const ChartView<double>& chart);

/// inside() of numbers with derivatives: the derivative of the number at address p is at p + slope.
/// Reads the weights and their derivatives, and fills the tables and theirs.
void inside_dual(const ChartView<double>& chart, std::ptrdiff_t slope);

}  // namespace taproot::detail
