// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.h"

namespace taproot::detail {

/// A floating-point number with the precision of a double and a 64-bit exponent: mantissa *
/// 2^exponent with |mantissa| in [1, 2), or 0. It rounds as a double does, but never overflows or
/// underflows. Arguments must be finite and divisors must not be 0.
class Wide {
 public:
  Wide() = default;
  // Implicit, so that code that is generic over the scalar can mix doubles with T.
  TAPROOT_HOST_DEVICE Wide(double value) : Wide(value, 0) {}  // NOLINT(google-explicit-constructor)
  TAPROOT_HOST_DEVICE Wide(double mantissa, std::int64_t exponent)
      : mantissa_(mantissa), exponent_(exponent) {
    normalize();
  }

  TAPROOT_HOST_DEVICE double mantissa() const { return mantissa_; }
  TAPROOT_HOST_DEVICE std::int64_t exponent() const { return exponent_; }
  TAPROOT_HOST_DEVICE bool is_zero() const { return mantissa_ == 0; }

  /// The nearest double; an infinity or 0 where the number lies outside double's range.
  TAPROOT_HOST_DEVICE double to_double() const {
    if (exponent_ > 2000) return mantissa_ * HUGE_VAL;
    if (exponent_ < -2000) return mantissa_ * 0.0;
    return std::ldexp(mantissa_, static_cast<int>(exponent_));
  }

  TAPROOT_HOST_DEVICE friend Wide operator*(Wide a, Wide b) {
    return {a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_};
  }
  TAPROOT_HOST_DEVICE friend Wide operator/(Wide a, Wide b) {
    return {a.mantissa_ / b.mantissa_, a.exponent_ - b.exponent_};
  }
  TAPROOT_HOST_DEVICE friend Wide operator-(Wide a) {
    a.mantissa_ = -a.mantissa_;
    return a;
  }
  TAPROOT_HOST_DEVICE friend Wide operator+(Wide a, Wide b) {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    const Wide& high = a.exponent_ < b.exponent_ ? b : a;
    const Wide& low = a.exponent_ < b.exponent_ ? a : b;
    const std::int64_t shift = high.exponent_ - low.exponent_;
    if (shift > 64) return high;  // The other is below half a unit in its last place.
    return {high.mantissa_ + low.mantissa_ * power_of_two(-shift), high.exponent_};
  }
  TAPROOT_HOST_DEVICE friend Wide operator-(Wide a, Wide b) { return a + (-b); }
  friend bool operator==(Wide a, Wide b) = default;
  TAPROOT_HOST_DEVICE friend bool operator<(Wide a, Wide b) { return (a - b).mantissa_ < 0; }
  TAPROOT_HOST_DEVICE Wide& operator+=(Wide b) { return *this = *this + b; }
  TAPROOT_HOST_DEVICE Wide& operator*=(Wide b) { return *this = *this * b; }

 private:
  TAPROOT_HOST_DEVICE static double power_of_two(std::int64_t e) {
    return double_of_bits(static_cast<std::uint64_t>(e + 1023) << 52);
  }
  // Products, quotients and sums of mantissas in [1, 2) are zero or normal doubles, so the
  // exponent can be read from the bits.
  TAPROOT_HOST_DEVICE void normalize() {
    if (mantissa_ == 0) {
      exponent_ = 0;
      return;
    }
    std::uint64_t bits = bits_of_double(mantissa_);
    if ((bits >> 52 & 0x7ff) == 0) {  // Only an argument of a constructor can be subnormal.
      bits = bits_of_double(mantissa_ * 0x1p64);
      exponent_ -= 64;
    }
    exponent_ += static_cast<std::int64_t>(bits >> 52 & 0x7ff) - 1023;
    mantissa_ = double_of_bits((bits & 0x800fffffffffffff) | std::uint64_t{1023} << 52);
  }

  double mantissa_;
  std::int64_t exponent_;
};

/// Conversions that code generic over the scalar calls on double and on Wide.
TAPROOT_HOST_DEVICE inline double to_double(double x) { return x; }
TAPROOT_HOST_DEVICE inline double to_double(Wide x) { return x.to_double(); }
TAPROOT_HOST_DEVICE inline double log_of(double x) { return std::log(x); }
TAPROOT_HOST_DEVICE inline double log_of(Wide x) {
  return std::log(x.mantissa()) + static_cast<double>(x.exponent()) * 0.69314718055994530942;
}

}  // namespace taproot::detail
