// SPDX-License-Identifier: Apache-2.0
//
// When double is enough. A sentence is factored in double if that loses less than 2^-256 of Z. Let
// 2^bits be the ratio of the bound from choose_order() to Z: no weight w, and no error of size w,
// counts more than w 2^bits Z. docs/numerics.md ("Range: when is double enough?") proves that these
// limits suffice.
#pragma once

#include <bit>
#include <cmath>

#include "core/format.h"
#include "core/scaled_product.h"

namespace taproot::detail {

/// These bits, or +inf if Z is not positive and finite, or if the weights that were stored as 0,
/// none of them above 2^flushed, may be missed by more than 2^-kNegligibleBits of Z.
inline double range_bits(const ScaledProduct& bound, const ScaledProduct& z, double flushed,
                         int n) {
  if (!(z.mantissa() > 0) || !std::isfinite(z.mantissa())) return HUGE_VAL;
  const double bits = log2_ratio(bound, z);
  const double log2_edges = 2.0 * std::bit_width(static_cast<unsigned>(n) + 1);
  return flushed + bits + log2_edges <= -kNegligibleBits ? bits : HUGE_VAL;
}

}  // namespace taproot::detail
