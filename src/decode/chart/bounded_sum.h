// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace taproot::detail {

/// A sum of doubles in two doubles, with a bound on what it has lost. For scores from float32, and
/// for most from float64, it has lost nothing, and then comparisons are exact.
struct BoundedSum {
  double high = 0;
  double low = 0;
  double lost = 0;

  friend BoundedSum operator+(const BoundedSum& a, const BoundedSum& b) {
    const Sum highs = sum(a.high, b.high);
    const Sum lows = sum(a.low, b.low);
    const Sum middle = sum(highs.rest, lows.value);
    const Sum result = sum(highs.value, middle.value);
    // The rounding of this bound is far below it: 1.0001 is more than enough.
    const double here = std::abs(middle.rest) + std::abs(lows.rest);
    const bool exact = here == 0 && a.lost == 0 && b.lost == 0;
    return {result.value, result.rest, exact ? 0.0 : 1.0001 * (a.lost + b.lost + here)};
  }
  friend BoundedSum operator-(const BoundedSum& a, const BoundedSum& b) {
    return a + BoundedSum{-b.high, -b.low, b.lost};
  }

  /// Whether the sign of the number is certain.
  bool is_certain() const { return lost == 0 || std::abs(high) > 2 * lost; }
  /// -1, 0 or 1.
  int sign() const {
    const double leading = high != 0 ? high : low;
    return leading > 0 ? 1 : leading < 0 ? -1 : 0;
  }

 private:
  struct Sum {
    double value;
    double rest;
  };
  static Sum sum(double a, double b) {  // Two-sum (Knuth): value + rest is a + b exactly.
    const double value = a + b;
    const double of_b = value - a;
    return {value, (a - (value - of_b)) + (b - of_b)};
  }
};

}  // namespace taproot::detail
