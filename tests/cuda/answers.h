// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "taproot/taproot.h"

namespace taproot {

struct Answers {
  std::vector<Outcome> outcomes;
  std::vector<double> log_z;
  std::vector<std::vector<double>> marginals;
};

/// log Z and marginals of a batch, by a Pool or a Cuda.
template <typename Where>
Answers ask(Where& where, const Scores& scores) {
  Answers a{std::vector<Outcome>(scores.size()), std::vector<double>(scores.size(), NAN), {}};
  std::vector<EdgeMatrix> out;
  for (std::size_t b = 0; b < scores.size(); ++b) {
    const auto side = static_cast<std::size_t>(scores[b].n()) + 1;
    a.marginals.emplace_back(side * side, NAN);
  }
  for (std::size_t b = 0; b < scores.size(); ++b) {
    out.push_back({a.marginals[b].data(), scores[b].n() + 1});
  }
  log_partition(where, scores, a.outcomes, a.log_z);
  marginals(where, scores, a.outcomes, out);
  return a;
}

/// NaN is the largest of all.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

}  // namespace taproot
