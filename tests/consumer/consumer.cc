// SPDX-License-Identifier: Apache-2.0
#include <taproot/taproot.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<double> scores(16, 0.0);  // Three words: 9 single-root trees.
  const double log_z = taproot::log_partition(taproot::eliminate({scores.data(), 3}));
  std::printf("log Z = %g, expected log 9 = %g\n", log_z, std::log(9.0));
  return std::abs(log_z - std::log(9.0)) < 1e-12 ? 0 : 1;
}
