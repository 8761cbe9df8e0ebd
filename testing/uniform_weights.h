// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "testing/families.h"
#include "testing/linear_congruential.h"

namespace taproot::bench {

/// Weights uniform in (0, 1), as in the paper.
inline oracle::Problem uniform_weights(int n, std::uint64_t seed = 12345) {
  oracle::Problem problem = oracle::uniform(n);
  LinearCongruential random(seed);
  for (double& s : problem.scores) {
    const double weight = random.uniform();
    if (std::isfinite(s)) s = std::log(weight);
  }
  return problem;
}

}  // namespace taproot::bench
