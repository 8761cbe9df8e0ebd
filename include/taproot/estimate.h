// SPDX-License-Identifier: Apache-2.0
//
// Estimates of E[f(tree)] from sampled trees: from the value f of each, a mean, its standard error
// and a confidence interval. docs/math.md has the formulas and how often the intervals hold.
//
// A sample without replacement is given by the log probability of each tree and kappa, as in
// WithoutReplacementSample. Its trees count with their exact probability, and only the mean of f
// over the mass that they leave is estimated.
#pragma once

#include <cstdint>
#include <span>

#include "taproot/types.h"

namespace taproot {

/// Both are NaN without values. If the values are those of all trees that exist, the standard error
/// is 0. Otherwise it is +inf for a single value.
struct Estimate {
  double mean = 0;
  double standard_error = 0;
};

/// Holds E[f] with about the probability that was asked for.
struct Interval {
  double low = 0;
  double high = 0;
};

/// What the values are. The interval of an event's probability is Jeffreys', which stays within
/// 0..1 and has a width also where no tree of the sample, or each of them, has the event.
enum class ValueKind : std::uint8_t { kNumber, kEvent };

/// The mean of the values of independent trees (with replacement).
TAPROOT_API Estimate estimate(std::span<const double> values);

/// mean +- t standard errors, with Student's t for k - 1 degrees of freedom. Throws
/// std::invalid_argument unless 0 < level < 1, and if the value of an event is neither 0 nor 1.
TAPROOT_API Interval interval(std::span<const double> values, double level = 0.95,
                              ValueKind kind = ValueKind::kNumber);

/// Without replacement: sum of weight * value with the weights below. Slightly biased, of order
/// 1/k. Throws std::invalid_argument unless there is one value per tree. O(k).
TAPROOT_API Estimate estimate(std::span<const double> log_prob, double kappa,
                              std::span<const double> values);

/// The same without replacement. The degrees of freedom are those of the effective number of trees
/// that inform about the mass that is left.
TAPROOT_API Interval interval(std::span<const double> log_prob, double kappa,
                              std::span<const double> values, double level = 0.95,
                              ValueKind kind = ValueKind::kNumber);

/// The weights of estimate(), which sum to 1: p(t) + left r(t) / sum of r, where
/// left = 1 - sum of p(t) and r = p (1 - q) / q. If all trees were
/// sampled, the weights are the trees' probabilities.
TAPROOT_API void normalized_weights(std::span<const double> log_prob, double kappa,
                                    std::span<double> out);

/// Sum of p/q * value. Unbiased (for all k > 0; at k = 1 of infinite variance), and with many trees
/// far worse than estimate(): its error grows with E[f], and not with the spread of f.
TAPROOT_API Estimate horvitz_thompson_estimate(std::span<const double> log_prob, double kappa,
                                               std::span<const double> values);

/// q(t) = 1 - exp(-exp(log p(t) - kappa)); 1 for kappa = -inf.
TAPROOT_API double inclusion_probability(double log_prob, double kappa);

/// p(t) / q(t), accurate also where both are tiny.
TAPROOT_API double horvitz_thompson_weight(double log_prob, double kappa);

}  // namespace taproot
