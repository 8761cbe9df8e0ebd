// SPDX-License-Identifier: Apache-2.0
//
// The blocked kernel against the definition, entry by entry, at every length where its blocks,
// groups and panels begin or end.
#include "eliminate/factor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "testing/positive_matrix.h"
#include "unit/core/targets.h"

namespace taproot::detail {
namespace {

void expect_same_factors(int n, RootRule root) {
  const std::size_t ld = leading_dimension(n);
  Buffer<double> blocked;
  Buffer<double> simple;
  fill_positive(n, ld, blocked);
  fill_positive(n, ld, simple);
  Buffer<double> panel;
  std::vector<double> pivot(ld);
  std::vector<double> simple_pivot(ld);
  std::vector<double> share(ld);
  factor(blocked.data(), ld, n, root, pivot.data(), panel);
  factor_simply(simple.data(), ld, n, root, simple_pivot.data(), share.data());
  // Both have relative errors of a few n 2^-53 in every entry.
  const double tolerance = 8 * (n + 1) * 0x1p-53;
  for (int m = 1; m <= n; ++m) {
    const auto row = static_cast<std::size_t>(m) * ld;
    EXPECT_NEAR(pivot[static_cast<std::size_t>(m)] / simple_pivot[static_cast<std::size_t>(m)], 1,
                tolerance)
        << "pivot " << m;
    for (int h = 0; h <= n; ++h) {
      if (h == m) continue;
      const std::size_t at = row + static_cast<std::size_t>(h);
      ASSERT_NEAR(blocked[at] / simple[at], 1, tolerance) << "row " << m << " column " << h;
    }
  }
}

TEST(Factor, BlockedIsTheDefinition) {
  for_each_target([] {
    for (int n = 1; n <= 41; ++n) {
      for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << " " << to_string(root));
        expect_same_factors(n, root);
      }
    }
  });
}

TEST(Factor, PanelsAreTheDefinition) {
  for_each_target([] {
    for (const int n : {100, 190, 191, 192, 193, 255, 256, 257, 263}) {
      for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << " " << to_string(root));
        expect_same_factors(n, root);
      }
    }
  });
}

TEST(Factor, WithinSeesEveryPositiveEntry) {
  const int n = 9;
  const std::size_t ld = leading_dimension(n);
  Buffer<double> matrix;
  fill_positive(n, ld, matrix);
  EXPECT_TRUE(factors_within(matrix.data(), ld, n, 1e-3, 1e3));
  for (const double outlier : {1e-4, 1e4, HUGE_VAL, std::nan("")}) {
    for (const auto& [m, h] : {std::pair{1, 0}, {1, 9}, {9, 0}, {9, 8}, {4, 5}}) {
      double& cell = matrix[static_cast<std::size_t>(m) * ld + static_cast<std::size_t>(h)];
      const double kept = cell;
      cell = outlier;
      EXPECT_FALSE(factors_within(matrix.data(), ld, n, 1e-3, 1e3)) << outlier << " " << m << h;
      cell = 0;  // No edge is no outlier.
      EXPECT_TRUE(factors_within(matrix.data(), ld, n, 1e-3, 1e3));
      cell = kept;
    }
  }
}

}  // namespace
}  // namespace taproot::detail
