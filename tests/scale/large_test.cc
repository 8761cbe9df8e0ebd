// SPDX-License-Identifier: Apache-2.0
//
// A sentence of 4000 words, with its marginals, in less than 600 MB beyond the scores.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>

#include "taproot/taproot.h"
#include "testing/families.h"

namespace taproot {
namespace {

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

TEST(Large, FourThousandWordsInBoundedMemory) {
  const int n = 4000;
  const auto side = static_cast<std::size_t>(n) + 1;
  const oracle::Problem problem = oracle::gaussian(n, 2, 1);
  const double before = peak_megabytes();
  Factorization f;
  Workspace workspace;
  ASSERT_TRUE(eliminate(ScoreView(problem.scores.data(), n), RootRule::kSingle, f, workspace).ok());
  EXPECT_FALSE(f.is_wide());
  std::vector<double> p(side * side);
  marginals(f, {p.data(), static_cast<std::ptrdiff_t>(side)}, workspace);
  const double used = peak_megabytes() - before;
  std::printf("n = %d: %.0f MB beyond the scores, the marginals included\n", n, used);
  EXPECT_LT(used, 600);
  std::vector<double> column(side);
  for (std::size_t h = 0; h < side; ++h) {
    for (std::size_t m = 0; m < side; ++m) column[m] += p[h * side + m];
  }
  for (std::size_t m = 1; m < side; ++m) EXPECT_NEAR(column[m], 1, 1e-10) << m;
  double roots = 0;
  for (std::size_t m = 1; m < side; ++m) roots += p[m];
  EXPECT_NEAR(roots, 1, 1e-10);
  // The root marginals come another way, without a subtraction.
  std::vector<double> alone(side - 1);
  root_marginals(f, alone, workspace);
  for (std::size_t m = 1; m < side; ++m) EXPECT_NEAR(alone[m - 1], p[m], 1e-12);
}

}  // namespace
}  // namespace taproot
