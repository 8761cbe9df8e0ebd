// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eliminate/factor_data.h"

namespace taproot::detail {

/// The scaled weights of each word's heads by sentence index, [n+1][ld], row = modifier, in
/// scratch.square. Column 0 holds ROOT's, on the same scale as the others, or 0 if not with_root.
const double* weights_by_modifier(const FactorData& data, bool with_root, Scratch& scratch);

}  // namespace taproot::detail
