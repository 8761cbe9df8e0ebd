// SPDX-License-Identifier: Apache-2.0
//
// When is a sample not from a law? Tests with a false-alarm rate that is set beforehand, and fixed
// seeds: they pass for ever or fail for ever.
#pragma once

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "taproot/sample.h"
#include "testing/oracle.h"
#include "testing/projective.h"

namespace taproot::law {

/// False alarms of one test. The suite has fewer than 500 of them: under 1e-6 together.
inline constexpr double kAlpha = 2e-9;

/// p-value of Pearson's chi-square statistic; bins that expect fewer than 5 are merged into one.
/// A count where nothing is expected gives 0.
inline double chi_square_p(const std::vector<double>& expected, const std::vector<double>& counts) {
  double statistic = 0;
  double rest_expected = 0;
  double rest_count = 0;
  int bins = 0;
  const auto add = [&](double e, double c) {
    statistic += (c - e) * (c - e) / e;
    ++bins;
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == 0 && counts[i] > 0) return 0;
    if (expected[i] >= 5) {
      add(expected[i], counts[i]);
    } else {
      rest_expected += expected[i];
      rest_count += counts[i];
    }
  }
  // What is left of the tail is too rare for chi-square below 5: then its count has Poisson's law.
  if (rest_expected >= 5) {
    add(rest_expected, rest_count);
  } else if (rest_count > 0 && boost::math::gamma_p(rest_count, rest_expected) < kAlpha) {
    return 0;
  }
  return bins < 2 ? 1.0 : boost::math::gamma_q((bins - 1) / 2.0, statistic / 2);
}

/// The trees of a family with their probabilities, as the oracle enumerates them.
inline std::vector<std::pair<Tree, double>> trees_of(const oracle::Problem& problem,
                                                     oracle::Root root, TreeFamily family) {
  return family == TreeFamily::kProjective ? oracle::projective_trees(problem, root)
                                           : oracle::all_trees(problem, root);
}

/// Counts of trees, by their heads.
using TreeCounts = std::map<Tree, double>;

/// p-value of the counts under the law that the oracle enumerates. A tree it does not know gives 0.
inline double tree_law_p(const oracle::Problem& problem, oracle::Root root,
                         const TreeCounts& counts, TreeFamily family = TreeFamily::kAll) {
  double total = 0;
  for (const auto& [tree, count] : counts) total += count;
  std::vector<double> expected;
  std::vector<double> seen;
  std::size_t known = 0;
  for (const auto& [heads, probability] : trees_of(problem, root, family)) {
    const auto found = counts.find(heads);
    expected.push_back(probability * total);
    seen.push_back(found == counts.end() ? 0 : found->second);
    if (found != counts.end()) ++known;
  }
  return known < counts.size() ? 0 : chi_square_p(expected, seen);
}

/// Bernstein's bound: a mean of `trees` indicators of probability p differs from p by more than
/// this with probability at most delta.
inline double frequency_bound(double p, double trees, double delta) {
  const double l = std::log(2 / delta);
  const double variance = std::max(0.0, p * (1 - p));  // A marginal may round above 1.
  return std::sqrt(2 * variance * l / trees) + 2 * l / (3 * trees);
}

/// At least the p-value of Kolmogorov and Smirnov's statistic D: 2 exp(-2 n D^2), for every n
/// (Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990).
template <typename Cdf>
double ks_p(std::vector<double> sample, Cdf&& cdf) {
  std::sort(sample.begin(), sample.end());
  const auto size = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = cdf(sample[i]);
    const auto below = static_cast<double>(i);
    distance = std::max({distance, p - below / size, (below + 1) / size - p});
  }
  return std::min(1.0, 2 * std::exp(-2 * size * distance * distance));
}

/// The same for two samples of one size n: e exp(-n D^2), for every n (Wei and Dudley 2012). Ties
/// only make it larger.
inline double ks_p(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto size = static_cast<double>(a.size());
  if (a.size() != b.size()) return 0;
  double distance = 0;
  std::size_t j = 0;
  for (std::size_t i = 0; i < a.size();) {
    const double x = j < b.size() ? std::min(a[i], b[j]) : a[i];
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    distance = std::max(distance, std::abs(static_cast<double>(i) - static_cast<double>(j)) / size);
  }
  return std::min(1.0, std::exp(1 - size * distance * distance));
}

/// How many standard errors the mean of values is from `expected`.
inline double standard_errors(const std::vector<double>& values, double expected) {
  const auto size = static_cast<double>(values.size());
  double mean = 0;
  for (const double v : values) mean += v / size;
  double variance = 0;
  for (const double v : values) variance += (v - mean) * (v - mean) / (size - 1);
  const double error = std::sqrt(variance / size);
  return error > 0 ? (mean - expected) / error : (mean == expected ? 0 : HUGE_VAL);
}

}  // namespace taproot::law
