// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/host_device.h"

namespace taproot::detail {

/// A product of non-negative numbers, mantissa * 2^exponent, that neither overflows nor underflows.
/// A factor that is zero, infinite or NaN makes the mantissa zero, infinite or NaN.
class ScaledProduct {
 public:
  TAPROOT_HOST_DEVICE void multiply(double x) {
    if (!(x >= kLow && x <= kHigh)) x = take_exponent(x);
    mantissa_ *= x;
    if (!(mantissa_ >= kLow && mantissa_ <= kHigh)) mantissa_ = take_exponent(mantissa_);
  }

  TAPROOT_HOST_DEVICE double mantissa() const { return mantissa_; }
  TAPROOT_HOST_DEVICE double exponent() const { return exponent_; }

  /// Brings the mantissa into [1/2, 1), so that its logarithm is small and adding the logarithm of
  /// 2^exponent loses no digits of it.
  TAPROOT_HOST_DEVICE void normalize() { mantissa_ = take_exponent(mantissa_); }

 private:
  static constexpr double kLow = 0x1p-250;
  static constexpr double kHigh = 0x1p250;

  TAPROOT_HOST_DEVICE double take_exponent(double x) {
    int e = 0;
    x = std::frexp(x, &e);
    if (std::isfinite(x)) exponent_ += e;
    return x;
  }

  double mantissa_ = 1;
  double exponent_ = 0;  // An integer, which a double holds exactly below 2^53.
};

/// log2(a / b).
TAPROOT_HOST_DEVICE inline double log2_ratio(const ScaledProduct& a, const ScaledProduct& b) {
  return std::log2(a.mantissa() / b.mantissa()) + (a.exponent() - b.exponent());
}

}  // namespace taproot::detail
