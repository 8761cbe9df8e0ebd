// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace taproot::detail {

/// A floating-point number with the precision of a double and a 64-bit exponent: mantissa *
/// 2^exponent with |mantissa| in [1, 2), or 0. It rounds as a double does, but never overflows or
/// underflows. Arguments must be finite and divisors must not be 0.
class Wide {
 public:
  Wide() = default;
  // Implicit, so that code that is generic over the scalar can mix doubles with T.
  Wide(double value) : Wide(value, 0) {}  // NOLINT(google-explicit-constructor)
  Wide(double mantissa, std::int64_t exponent) : mantissa_(mantissa), exponent_(exponent) {
    normalize();
  }

  double mantissa() const { return mantissa_; }
  std::int64_t exponent() const { return exponent_; }
  bool is_zero() const { return mantissa_ == 0; }

  /// The nearest double; an infinity or 0 where the number lies outside double's range.
  double to_double() const {
    if (exponent_ > 2000) return mantissa_ * HUGE_VAL;
    if (exponent_ < -2000) return mantissa_ * 0.0;
    return std::ldexp(mantissa_, static_cast<int>(exponent_));
  }

  friend Wide operator*(Wide a, Wide b) {
    return {a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_};
  }
  friend Wide operator/(Wide a, Wide b) {
    return {a.mantissa_ / b.mantissa_, a.exponent_ - b.exponent_};
  }
  friend Wide operator-(Wide a) {
    a.mantissa_ = -a.mantissa_;
    return a;
  }
  friend Wide operator+(Wide a, Wide b) {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    if (a.exponent_ < b.exponent_) std::swap(a, b);
    const std::int64_t shift = a.exponent_ - b.exponent_;
    if (shift > 64) return a;  // b is below half a unit in the last place of a.
    return {a.mantissa_ + b.mantissa_ * power_of_two(-shift), a.exponent_};
  }
  friend Wide operator-(Wide a, Wide b) { return a + (-b); }
  friend bool operator==(Wide a, Wide b) = default;
  friend bool operator<(Wide a, Wide b) { return (a - b).mantissa_ < 0; }
  Wide& operator+=(Wide b) { return *this = *this + b; }
  Wide& operator*=(Wide b) { return *this = *this * b; }

 private:
  static double power_of_two(std::int64_t e) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  }
  // Products, quotients and sums of mantissas in [1, 2) are zero or normal doubles, so the
  // exponent can be read from the bits.
  void normalize() {
    if (mantissa_ == 0) {
      exponent_ = 0;
      return;
    }
    const auto bits = std::bit_cast<std::uint64_t>(mantissa_);
    const auto biased = static_cast<std::int64_t>(bits >> 52 & 0x7ff);
    if (biased == 0) {  // Only an argument of a constructor can be subnormal.
      mantissa_ *= 0x1p64;
      exponent_ -= 64;
      return normalize();
    }
    exponent_ += biased - 1023;
    mantissa_ = std::bit_cast<double>((bits & 0x800fffffffffffff) | std::uint64_t{1023} << 52);
  }

  double mantissa_;
  std::int64_t exponent_;
};

/// Conversions that code generic over the scalar calls on double and on Wide.
inline double to_double(double x) { return x; }
inline double to_double(Wide x) { return x.to_double(); }
inline double log_of(double x) { return std::log(x); }
inline double log_of(Wide x) {
  return std::log(x.mantissa()) + static_cast<double>(x.exponent()) * 0.69314718055994530942;
}

}  // namespace taproot::detail
