// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/exact_sum.h"
#include "core/host_device.h"
#include "core/ln2.h"

namespace taproot::detail {

/// log p of a tree from the scores and scales of its edges, for sentences whose log Z and scores
/// may be large and nearly equal: their difference is rounded once.
class ExactLogProb {
 public:
  /// Z of the scaled weights is mantissa * 2^exponent.
  TAPROOT_HOST_DEVICE explicit ExactLogProb(double exponent) { scale_.add(exponent); }

  /// The score of an edge, which must be finite, and a power of two that its weight is scaled by.
  TAPROOT_HOST_DEVICE void add_score(double score) { sum_.add(score); }
  TAPROOT_HOST_DEVICE void add_scale(double scale) { scale_.add(scale); }

  TAPROOT_HOST_DEVICE double value(double mantissa) {
    const double k = scale_.value();
    subtract_k_ln2(k);
    scale_.add(-k);  // Beyond 2^53 there is a rest.
    subtract_k_ln2(scale_.value());
    sum_.add(-std::log(mantissa));
    return sum_.value();
  }

 private:
  // Subtracts x * y without rounding, unless it underflows.
  TAPROOT_HOST_DEVICE void subtract_product(double x, double y) {
    const double product = x * y;
    sum_.add(-product);
    sum_.add(-std::fma(x, y, -product));
  }
  // Subtracts k ln 2, with ln 2 to 160 bits.
  TAPROOT_HOST_DEVICE void subtract_k_ln2(double k) {
    subtract_product(k, kLn2);
    subtract_product(k, kLn2Low);
    sum_.add(-k * kLn2Lower);
  }

  ExactSum sum_;
  ExactSum scale_;
};

}  // namespace taproot::detail
