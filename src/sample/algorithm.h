// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "taproot/sample.h"

namespace taproot::detail {

/// Throws in the name of `function` if the algorithm is no sampler of trees under the root rule.
void require_goes_with(Algorithm algorithm, RootRule root, TreeFamily family, const char* function);

}  // namespace taproot::detail
