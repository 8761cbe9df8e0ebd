// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Eliminates the scores of `data` again into `out`, with every ROOT edge forbidden except the one
/// to `root`. `data` must be single-root, and some tree must have this root.
void eliminate_given_root(const FactorData& data, int root, FactorData& out, Scratch& scratch);

}  // namespace taproot::detail
