// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace taproot::detail {

/// A product of non-negative numbers that neither overflows nor underflows: mantissa * 2^exponent.
/// One that is zero, infinite or NaN makes the mantissa so.
class ScaledProduct {
 public:
  void multiply(double x) {
    if (!(x >= kLow && x <= kHigh)) x = take_exponent(x);
    mantissa_ *= x;
    if (!(mantissa_ >= kLow && mantissa_ <= kHigh)) mantissa_ = take_exponent(mantissa_);
  }

  double mantissa() const { return mantissa_; }
  double exponent() const { return exponent_; }

  /// Brings the mantissa into [1/2, 1), where its log is small and loses nothing to the exponent's.
  void normalize() { mantissa_ = take_exponent(mantissa_); }

 private:
  static constexpr double kLow = 0x1p-250;
  static constexpr double kHigh = 0x1p250;

  double take_exponent(double x) {
    int e = 0;
    x = std::frexp(x, &e);
    if (std::isfinite(x)) exponent_ += e;
    return x;
  }

  double mantissa_ = 1;
  double exponent_ = 0;  // An integer; exact below 2^53.
};

/// log2(a / b).
inline double log2_ratio(const ScaledProduct& a, const ScaledProduct& b) {
  return std::log2(a.mantissa() / b.mantissa()) + (a.exponent() - b.exponent());
}

}  // namespace taproot::detail
