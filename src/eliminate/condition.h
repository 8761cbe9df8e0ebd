// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eliminate/factor_data.h"

namespace taproot::detail {

/// The same scores with all ROOT edges but that to `root` forbidden, eliminated into scratch.other.
/// Single-root; `root` must be possible.
void eliminate_given_root(const FactorData& data, int root, Scratch& scratch);

}  // namespace taproot::detail
