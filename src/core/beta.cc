// SPDX-License-Identifier: Apache-2.0
#include "core/beta.h"

#include <cmath>
#include <limits>

namespace taproot::detail {
namespace {

// log Gamma(x) by Stirling's series, less log(2 pi) / 2. Not by std::lgamma, which writes a global
// variable.
double log_gamma(double x) {
  double shift = 0;
  for (; x < 16; ++x) shift += std::log(x);
  const double y = 1 / x;
  const double series = y * (1.0 / 12 - y * y * (1.0 / 360 - y * y * (1.0 / 1260 - y * y / 1680)));
  return (x - 0.5) * std::log(x) - x + series - shift;
}

double log_beta(double a, double b) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return kHalfLogTwoPi + log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

double incomplete_beta(double a, double b, double x, double log_beta_ab) {
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta_ab);
  if (x < (a + 1) / (a + b + 2)) return front * beta_continued_fraction(a, b, x) / a;
  return 1 - front * beta_continued_fraction(b, a, 1 - x) / b;
}

}  // namespace

double beta_continued_fraction(double a, double b, double x) {
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

double beta_quantile(double probability, double a, double b) {
  if (std::isnan(probability) || std::isnan(a) || std::isnan(b)) return NAN;
  const double log_beta_ab = log_beta(a, b);
  double low = 0;
  double high = 1;
  double x = a / (a + b);
  // Newton's method, and bisection where a step would leave the bounds.
  for (int i = 0; i < 200; ++i) {
    const double excess = incomplete_beta(a, b, x, log_beta_ab) - probability;
    (excess < 0 ? low : high) = x;
    const double density = std::exp((a - 1) * std::log(x) + (b - 1) * std::log1p(-x) - log_beta_ab);
    const double step = x - excess / density;
    const double next = step > low && step < high ? step : 0.5 * (low + high);
    if (std::abs(next - x) <= 4 * std::numeric_limits<double>::epsilon() * x) return next;
    x = next;
  }
  return x;
}

}  // namespace taproot::detail
