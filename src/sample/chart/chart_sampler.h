// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Samples a projective tree by walking the chart from the top: a choice in each of at most 2n
/// cells, by a scan of the cell's alternatives.
void sample_from_chart(const Chart& chart, Stream& stream, Scratch& scratch, std::int32_t* heads);

}  // namespace taproot::detail
