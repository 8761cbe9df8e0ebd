// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "testing/families.h"

namespace taproot::bench {

/// Weights uniform in (0, 1), as in the paper.
inline oracle::Problem uniform_weights(int n, std::uint64_t seed = 12345) {
  oracle::Problem problem = oracle::uniform(n);
  std::uint64_t state = seed;
  for (double& s : problem.scores) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    if (std::isfinite(s)) s = std::log((static_cast<double>(state >> 11) + 0.5) * 0x1p-53);
  }
  return problem;
}

}  // namespace taproot::bench
