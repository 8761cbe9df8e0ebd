// SPDX-License-Identifier: Apache-2.0
//
// The reverse pass by products against the definition.
#include "reverse/gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "eliminate/factor.h"
#include "testing/positive_matrix.h"
#include "unit/core/targets.h"

namespace taproot::detail {
namespace {

void expect_same_gradient(int n, RootRule root) {
  const std::size_t ld = leading_dimension(n);
  const std::size_t size = (static_cast<std::size_t>(n) + 1) * ld;
  Buffer<double> matrix;
  fill_positive(n, ld, matrix);
  Scratch scratch;
  std::vector<double> pivot(ld);
  Buffer<double> shares;
  factor(matrix.data(), ld, n, root, pivot.data(), shares);
  const Factors<double> f{n, root, ld, matrix.data(), pivot.data()};
  std::vector<double> fast(size, std::nan(""));
  gradient(f, fast.data(), scratch);
  std::vector<double> simple(size);
  std::vector<double> share(ld);
  std::vector<double> gu(ld);
  gradient_simply(f, simple.data(), share.data(), gu.data());
  const double tolerance = 16 * (n + 1) * 0x1p-53;
  for (int m = 1; m <= n; ++m) {
    for (int h = 0; h <= n; ++h) {
      const std::size_t at = static_cast<std::size_t>(m) * ld + static_cast<std::size_t>(h);
      // Probabilities are what is promised to an absolute error: compare on their scale.
      const double scale = std::max(1.0, std::abs(simple[at]));
      ASSERT_NEAR(fast[at], simple[at], tolerance * scale) << "row " << m << " column " << h;
    }
  }
  for (std::size_t h = 0; h < ld; ++h) EXPECT_EQ(fast[h], 0) << "row 0";
}

TEST(Gradient, ProductsAreTheDefinition) {
  for_each_target([] {
    for (int n = 1; n <= 41; ++n) {
      for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << " " << to_string(root));
        expect_same_gradient(n, root);
      }
    }
  });
}

TEST(Gradient, PanelsAreTheDefinition) {
  for_each_target([] {
    for (const int n : {100, 254, 255, 256, 257, 287, 288, 289, 300}) {
      for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << " " << to_string(root));
        expect_same_gradient(n, root);
      }
    }
  });
}

}  // namespace
}  // namespace taproot::detail
