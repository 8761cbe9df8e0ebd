// SPDX-License-Identifier: Apache-2.0
#include "taproot/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/beta.h"
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
  double size = 0;      // The number of independent trees that would tell b with this variance.
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
  // An event's interval is of a probability, not of a difference of two.
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
  found.size = 1 / sum;
  return found;
}

Estimate estimate_of(const Terms& terms, std::span<const double> values) {
  if (values.empty()) return {NAN, NAN};
  const Fit f = fit(terms, values, ValueKind::kNumber);
  if (f.left == 0) return {f.center + f.known, 0};
  return {f.center + (f.known + f.left * f.b), f.left * std::sqrt(f.variance)};
}

// Jeffreys' interval for a probability of which `size` trees have the share b: it leaves out the
// same mass on both sides of the law Beta(size b + 1/2, size (1 - b) + 1/2). If no tree has the
// event it begins at 0, and if every tree has it, it ends at 1.
Interval jeffreys(double b, double size, double level) {
  const double half = (1 - level) / 2;
  const double with = size * b + 0.5;
  const double without = size * (1 - b) + 0.5;
  return {b <= 0 ? 0 : detail::beta_quantile(half, with, without),
          b >= 1 ? 1 : detail::beta_quantile(1 - half, with, without)};
}

// The size for Jeffreys' interval. The variance of an event follows from its probability, so k
// trees of equal weight need no quantile of Student's. Unequal weights make the variance uncertain;
// 1/degrees - 1/(k - 1) measures by how much (Korn and Graubard 1998 use all degrees for surveys).
double event_size(const Fit& f, std::size_t k, double level) {
  const double excess = 1 / f.degrees - 1 / (static_cast<double>(k) - 1);
  constexpr double kNormal = 1e8;  // Degrees of freedom.
  if (excess <= 1 / kNormal) return f.size;
  const double z = detail::student_quantile(level, kNormal);
  const double t = detail::student_quantile(level, 1 / excess);
  return f.size * (z / t) * (z / t);
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
  if (event) {
    const double size = f.degrees > 0 ? event_size(f, values.size(), level) : 0;
    if (!(size > 0)) return {f.known, std::min(1.0, f.known + f.left)};
    const auto [low, high] = jeffreys(f.b, size, level);
    return {f.known + f.left * low, std::min(1.0, f.known + f.left * high)};
  }
  const double t = detail::student_quantile(level, f.degrees);
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
