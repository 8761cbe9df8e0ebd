// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "taproot/sample.h"
#include "taproot/without_replacement.h"

namespace taproot::detail {

/// Throws in the name of `function` if the algorithm does not sample trees of the family under the
/// root rule.
void require_goes_with(Algorithm algorithm, RootRule root, TreeFamily family, const char* function);
void require_goes_with(WithoutReplacementAlgorithm algorithm, TreeFamily family,
                       const char* function);

}  // namespace taproot::detail
