// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eliminate/factor_data.h"

namespace taproot::detail {

/// The weights of each word's heads in sentence order, [n+1][ld], row = modifier. Each row may have
/// a scale of its own. Column 0 holds the weight of the ROOT edge if with_root, and 0 if not. The
/// result is in scratch memory that the next elimination may overwrite; see matrix_memory().
const double* weights_by_modifier(const FactorData& data, bool with_root, Scratch& scratch);

}  // namespace taproot::detail
