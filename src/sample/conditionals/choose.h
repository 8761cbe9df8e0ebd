// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random.h"
#include "core/wide.h"

namespace taproot::detail {

/// Sum of ld weights, ld a multiple of 8; in one fixed order.
double sum_of(const double* weights, std::size_t ld);
Wide sum_of(const Wide* weights, std::size_t ld);

/// An index with probability weights[i] / total, total their sum_of(). Never one of weight 0,
/// unless all are.
int choose(const double* weights, std::size_t ld, double total, Stream& stream);
int choose(const Wide* weights, std::size_t ld, const Wide& total, Stream& stream);

}  // namespace taproot::detail
