// SPDX-License-Identifier: Apache-2.0
//
// When double is enough. A sentence is factored in double if that loses less than 2^-256 of Z. Let
// 2^bits be the ratio of the bound from arrange() to Z: no weight w, and no error of size w, counts
// more than w 2^bits Z. docs/numerics.md ("Range: when is double enough?") proves that these limits
// suffice.
#pragma once

#include <bit>
#include <cmath>

#include "core/format.h"

namespace taproot::detail {

/// Whether the weights that were stored as 0, none of them above 2^flushed, are missed by less than
/// 2^-kNegligibleBits of Z.
inline bool flushed_is_negligible(double flushed, double bits, int n) {
  const double log2_edges = 2.0 * std::bit_width(static_cast<unsigned>(n) + 1);
  return flushed + bits + log2_edges <= -kNegligibleBits;
}

}  // namespace taproot::detail
