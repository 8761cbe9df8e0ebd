// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random.h"
#include "core/wide.h"

namespace taproot::detail {

/// The sum of ld weights, where ld is a multiple of 8. The order of the additions is fixed.
double sum_of(const double* weights, std::size_t ld);
Wide sum_of(const Wide* weights, std::size_t ld);

/// Samples an index i with probability weights[i] / total, where total is sum_of() the weights.
/// Never samples an index of weight 0, unless all weights are 0.
int choose(const double* weights, std::size_t ld, double total, Stream& stream);
int choose(const Wide* weights, std::size_t ld, const Wide& total, Stream& stream);

}  // namespace taproot::detail
