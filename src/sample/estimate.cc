// SPDX-License-Identifier: Apache-2.0
#include "taproot/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/check.h"
#include "core/student.h"
#include "sample/without_replacement/weight.h"

namespace taproot {
namespace {

// E[f] = known + left * b, where b, the mean of f over the mass left, is estimated by the sum of
// share * f over the sum of share, with the variance (before it is corrected for the mean) sum of
// spread * (f - b)^2.
struct Terms {
  double left = 1;
  std::vector<double> probability;  // Of which `known` is the sum, times f; empty: 0.
  std::vector<double> share;
  double total = 0;  // The sum of share.
  std::vector<double> spread;
};

// Values are taken relative to `center`, which is one of them: equal values then have no error.
struct Fit {
  double center = 0;
  double known = 0;
  double left = 0;
  double b = 0;
  double variance = 0;  // Of b.
  double degrees = 0;   // Of freedom, of the variance.
  double size = 0;      // The number of independent trees that would tell as much about b.
};

Terms independent(std::size_t k) {
  const auto count = static_cast<double>(k);
  return {1, {}, std::vector<double>(k, 1), count, std::vector<double>(k, 1 / (count * count))};
}

// log(exp(x) - 1)
double log_expm1(double x) {
  return x > 1 ? x + std::log1p(-std::exp(-x)) : std::log(std::expm1(x));
}

Terms without_replacement(std::span<const double> log_prob, double kappa, const char* function) {
  detail::require(!std::isnan(kappa), function, "kappa is NaN");
  Terms terms;
  double largest = -HUGE_VAL;
  for (const double l : log_prob) {
    terms.probability.push_back(std::exp(l));
    terms.left -= terms.probability.back();
    // r = p (1 - q) / q = p / expm1(x), which tends to exp(kappa) for small x.
    const double x = std::exp(l - kappa);
    terms.share.push_back(x > 0 ? l - log_expm1(x) : kappa);
    largest = std::max(largest, terms.share.back());
  }
  // All trees, or a rest too small for double.
  if (!(largest > -HUGE_VAL) || terms.left <= 0) {
    terms.left = 0;
    return terms;
  }
  for (double& r : terms.share) terms.total += r = std::exp(r - largest);
  const double log_sum = largest + std::log(terms.total);
  for (std::size_t i = 0; i < log_prob.size(); ++i) {
    const double q = inclusion_probability(log_prob[i], kappa);
    const double log_weight = q > 0 ? log_prob[i] - std::log(q) : kappa;
    terms.spread.push_back(terms.share[i] / terms.total * std::exp(log_weight - log_sum));
  }
  return terms;
}

// The sum of weight * (value - center). Weight 0 makes 0 of any value, also of an infinite one.
double dot(std::span<const double> weights, std::span<const double> values, double center) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] != 0) sum += weights[i] * (values[i] - center);
  }
  return sum;
}

Fit fit(const Terms& terms, std::span<const double> values, ValueKind kind) {
  Fit found;
  // Wilson's interval is of a probability, not of a difference of two.
  if (kind != ValueKind::kEvent && std::isfinite(values[0])) found.center = values[0];
  found.known = dot(terms.probability, values, found.center);
  found.left = terms.left;
  if (terms.left == 0) return found;
  found.b = dot(terms.share, values, found.center) / terms.total;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double residual = values[i] - found.center - found.b;
    found.variance += terms.spread[i] * residual * residual;
    sum += terms.spread[i];
    squares += terms.spread[i] * terms.spread[i];
  }
  found.degrees = values.size() > 1 ? std::max(0.0, sum / squares * sum - 1) : 0;
  found.variance = found.degrees > 0 ? found.variance * (1 + 1 / found.degrees) : HUGE_VAL;
  found.size = found.degrees / ((found.degrees + 1) * sum);
  return found;
}

Estimate estimate_of(const Terms& terms, std::span<const double> values) {
  if (values.empty()) return {NAN, NAN};
  const Fit f = fit(terms, values, ValueKind::kNumber);
  if (f.left == 0) return {f.center + f.known, 0};
  return {f.center + (f.known + f.left * f.b), f.left * std::sqrt(f.variance)};
}

// Wilson's (1927) interval: the probabilities b0 for which |b - b0| <= t sqrt(b0 (1 - b0) / size).
Interval wilson(double b, double size, double t) {
  const double x = t * t / size;
  if (!(x < HUGE_VAL)) return {0, 1};
  const double middle = (b + x / 2) / (1 + x);
  const double half = std::sqrt(x * b * (1 - b) + x * x / 4) / (1 + x);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

Interval interval_of(const Terms& terms, std::span<const double> values, double level,
                     ValueKind kind) {
  detail::require(level > 0 && level < 1, "interval", "the level must be between 0 and 1");
  const bool event = kind == ValueKind::kEvent;
  detail::require(!event || std::ranges::all_of(values, [](double v) { return v == 0 || v == 1; }),
                  "interval", "the value of an event must be 0 or 1");
  if (values.empty()) return {NAN, NAN};
  const Fit f = fit(terms, values, kind);
  if (f.left == 0) return {f.center + f.known, f.center + f.known};
  const double t = detail::student_quantile(level, f.degrees);
  if (event) {
    const auto [low, high] = wilson(f.b, f.size, t);
    return {f.known + f.left * low, std::min(1.0, f.known + f.left * high)};
  }
  // From one tree, or effectively one, nothing can be said: t or the variance is infinite.
  const double half = f.variance == 0 ? 0 : t * f.left * std::sqrt(f.variance);
  const double mean = f.center + (f.known + f.left * f.b);
  return {mean - half, mean + half};
}

void require_values(std::span<const double> log_prob, std::span<const double> values,
                    const char* function) {
  detail::require(log_prob.size() == values.size(), function, "there must be one value per tree");
}

}  // namespace

Estimate estimate(std::span<const double> values) {
  return estimate_of(independent(values.size()), values);
}

Interval interval(std::span<const double> values, double level, ValueKind kind) {
  return interval_of(independent(values.size()), values, level, kind);
}

Estimate estimate(std::span<const double> log_prob, double kappa, std::span<const double> values) {
  require_values(log_prob, values, "estimate");
  return estimate_of(without_replacement(log_prob, kappa, "estimate"), values);
}

Interval interval(std::span<const double> log_prob, double kappa, std::span<const double> values,
                  double level, ValueKind kind) {
  require_values(log_prob, values, "interval");
  return interval_of(without_replacement(log_prob, kappa, "interval"), values, level, kind);
}

void normalized_weights(std::span<const double> log_prob, double kappa, std::span<double> out) {
  require_values(log_prob, out, "normalized_weights");
  const Terms terms = without_replacement(log_prob, kappa, "normalized_weights");
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] =
        terms.probability[i] + (terms.left == 0 ? 0 : terms.left * terms.share[i] / terms.total);
  }
}

Estimate horvitz_thompson_estimate(std::span<const double> log_prob, double kappa,
                                   std::span<const double> values) {
  require_values(log_prob, values, "horvitz_thompson_estimate");
  if (values.empty()) return {NAN, NAN};
  Estimate found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double term = horvitz_thompson_weight(log_prob[i], kappa) * values[i];
    found.mean += term;
    // 1 - q
    found.standard_error += term * term * std::exp(-std::exp(log_prob[i] - kappa));
  }
  found.standard_error = std::sqrt(found.standard_error);
  if (values.size() == 1 && kappa > -HUGE_VAL) found.standard_error = HUGE_VAL;
  return found;
}

double inclusion_probability(double log_prob, double kappa) {
  return -std::expm1(-std::exp(log_prob - kappa));
}

double horvitz_thompson_weight(double log_prob, double kappa) {
  return detail::horvitz_thompson(log_prob, kappa);
}

}  // namespace taproot
