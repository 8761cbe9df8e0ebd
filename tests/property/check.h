// SPDX-License-Identifier: Apache-2.0
//
// Compares the library with the oracle on one problem.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "taproot/taproot.h"
#include "testing/oracle.h"

namespace taproot {

inline const char* name(oracle::Root root) {
  return root == oracle::Root::kSingle ? "single" : "multi";
}

inline RootRule rule(oracle::Root root) {
  return root == oracle::Root::kSingle ? RootRule::kSingle : RootRule::kMulti;
}

inline Factorization factored(const oracle::Problem& problem, oracle::Root root,
                              TreeFamily family = TreeFamily::kAll) {
  return factorize(ScoreView(problem.scores.data(), problem.n), rule(root), family);
}

/// The promise: |logZ| to 1e-12 relative, marginals to 1e-13 absolute, entropy to 1e-11 relative.
inline void expect_exact(const Factorization& f, const oracle::Answer& exact) {
  if (!exact.feasible) {
    EXPECT_EQ(f.outcome().status, Status::kNoTree);
    return;
  }
  ASSERT_TRUE(f.outcome().ok()) << to_string(f.outcome().status);
  EXPECT_NEAR(log_partition(f), exact.log_partition,
              1e-12 * std::max(1.0, std::abs(exact.log_partition)));
  EXPECT_NEAR(entropy(f), exact.entropy, 1e-11 * std::max(1.0, exact.entropy));
  const std::vector<double> p = marginals(f);
  ASSERT_EQ(p.size(), exact.marginals.size());
  double worst = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_TRUE(p[i] >= 0) << "cell " << i << ": " << p[i];  // False for NaN too.
    worst = std::max(worst, std::abs(p[i] - exact.marginals[i]));
  }
  EXPECT_LE(worst, 1e-13);
  const std::vector<double> roots = root_marginals(f);
  for (std::size_t m = 1; m <= roots.size(); ++m) {
    EXPECT_NEAR(roots[m - 1], exact.marginals[m], 1e-13) << "root " << m;
    if (f.root_rule() == RootRule::kSingle) {  // Free of subtraction: good to the last digits.
      EXPECT_NEAR(roots[m - 1], exact.marginals[m], 1e-12 * exact.marginals[m] + 0x1p-256);
    }
  }
}

}  // namespace taproot
