// SPDX-License-Identifier: Apache-2.0
#include <taproot/taproot.h>

#include <cstdio>
#include <vector>

int main() {
  // "She saw stars": scores[head][modifier]; row and column 0 are ROOT.
  const std::vector<double> scores = {0, -2, 3,  -1,   // from ROOT
                                      0, 0,  -1, -2,   // from "She"
                                      0, 2,  0,  2.5,  // from "saw"
                                      0, -1, 0,  0};   // from "stars"
  const taproot::Factorization f = taproot::eliminate({scores.data(), 3});
  const std::vector<double> p = taproot::marginals(f);
  std::printf("log Z = %.4f, p(saw -> stars) = %.4f\n", taproot::log_partition(f), p[2 * 4 + 3]);
  for (const taproot::Tree& heads : taproot::sample(f, 3)) {
    std::printf("sampled heads: %d %d %d\n", heads[0], heads[1], heads[2]);
  }
}
