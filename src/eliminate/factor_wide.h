// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Factors the weights of a sentence over Wide, in the order of elimination that `data` has already
/// chosen. The factors are stored in `matrix` and `pivot`. This starts from the scores, because
/// factors in double, converted, would lack what underflowed. O(n^3).
Factors<Wide> factor_wide(const FactorData& data, Buffer<Wide>& matrix, Buffer<Wide>& pivot,
                          Scratch& scratch);

}  // namespace taproot::detail
