// SPDX-License-Identifier: Apache-2.0
#include "core/student.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace taproot::detail {
namespace {

// Gamma(a + 1/2) / Gamma(a). Not by std::lgamma, which writes a global variable.
double gamma_ratio(double a) {
  double factor = 1;
  for (; a < 16; ++a) factor *= a / (a + 0.5);
  const double x = 1 / a;
  const double series =
      1 + x * (-1.0 / 8 + x * (1.0 / 128 + x * (5.0 / 1024 + x * (-21.0 / 32768))));
  return factor * std::sqrt(a) * series;
}

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by the
// method of Lentz. It converges fast for x < (a + 1) / (a + b + 2).
double continued_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int i = 1; i < 100000; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < 4 * std::numeric_limits<double>::epsilon()) break;
  }
  return value;
}

// P(|T| > t), which is the incomplete beta function I_x(degrees / 2, 1/2) at
// x = degrees / (degrees + t^2).
double two_tails(double t, double degrees) {
  constexpr double kNormal = 1e7;  // Beyond it the two quantiles agree to 1e-6.
  if (degrees > kNormal) return std::erfc(t / std::numbers::sqrt2);
  const double a = degrees / 2;
  const double ratio = t / std::sqrt(degrees);
  const double x = 1 / (1 + ratio * ratio);
  const double y = ratio / std::hypot(1, ratio) * (ratio / std::hypot(1, ratio));
  // x^a y^(1/2) / B(a, 1/2)
  const double front = std::exp(a * -std::log1p(ratio * ratio)) * std::sqrt(y) * gamma_ratio(a) *
                       std::numbers::inv_sqrtpi;
  if (x < (a + 1) / (a + 2.5)) return front * continued_fraction(a, 0.5, x) / a;
  return 1 - front * continued_fraction(0.5, a, y) * 2;
}

}  // namespace

double student_quantile(double level, double degrees) {
  if (std::isnan(level) || std::isnan(degrees)) return NAN;
  double low = -40;  // Of log t.
  double high = 350;
  if (!(degrees > 0) || two_tails(std::exp(high), degrees) > 1 - level) return HUGE_VAL;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (two_tails(std::exp(middle), degrees) > 1 - level ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

}  // namespace taproot::detail
