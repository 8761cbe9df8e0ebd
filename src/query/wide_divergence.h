// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eliminate/factor_data.h"
#include "query/wide_entry.h"

namespace taproot::detail {

/// The cross-entropy or the KL divergence of p and q without any score in it, so that scores which
/// all trees have in common, however large, cost no digits. With p = q the cross-entropy is the
/// entropy. q must allow every tree of p. O(n^3) on the wide scalar; see docs/numerics.md.
double wide_divergence(const FactorData& p, const FactorData& q, Divergence kind, Scratch& scratch);

}  // namespace taproot::detail
