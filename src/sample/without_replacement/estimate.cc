// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "core/check.h"
#include "taproot/without_replacement.h"

namespace taproot {

double inclusion_probability(double log_prob, double kappa) {
  return -std::expm1(-std::exp(log_prob - kappa));
}

double horvitz_thompson_weight(double log_prob, double kappa) {
  const double x = std::exp(log_prob - kappa);
  // p / q = exp(kappa) x / (1 - exp(-x)), where x / (1 - exp(-x)) tends to 1 for small x.
  if (x < 1) return std::exp(kappa) * (x > 0 ? x / -std::expm1(-x) : 1.0);
  return std::exp(log_prob) / -std::expm1(-x);
}

void normalize_weights(std::span<const double> weights, std::span<double> out) {
  detail::require(weights.size() == out.size(), "normalize_weights",
                  "weights and out must have the same size");
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) out[i] = weights[i] / sum;
}

double estimate(std::span<const double> weights, std::span<const double> values, bool normalized) {
  detail::require(weights.size() == values.size(), "estimate",
                  "weights and values must have the same size");
  const double sum = std::inner_product(weights.begin(), weights.end(), values.begin(), 0.0);
  if (!normalized) return sum;
  return sum / std::accumulate(weights.begin(), weights.end(), 0.0);
}

}  // namespace taproot
