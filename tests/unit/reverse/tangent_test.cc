// SPDX-License-Identifier: Apache-2.0
//
// The derivative of the reverse pass in vectors against the definition.
#include "reverse/tangent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "eliminate/factor.h"
#include "reverse/gradient.h"
#include "testing/positive_matrix.h"
#include "unit/core/targets.h"

namespace taproot::detail {
namespace {

void expect_same_tangent(int n, RootRule root) {
  const std::size_t ld = leading_dimension(n);
  const std::size_t size = (static_cast<std::size_t>(n) + 1) * ld;
  Buffer<double> matrix;
  fill_positive(n, ld, matrix);
  Stream stream(stream_key(8, static_cast<std::uint32_t>(n)), 0, Purpose::kTree);
  std::vector<double> tangent(size);
  for (std::size_t i = 0; i < size; ++i) tangent[i] = matrix[i] * (2 * stream.uniform() - 1);
  Scratch scratch;
  std::vector<double> pivot(ld);
  Buffer<double> shares;
  factor(matrix.data(), ld, n, root, pivot.data(), shares);
  const Factors<double> f{n, root, ld, matrix.data(), pivot.data()};
  std::vector<double> g(size);
  gradient(f, g.data(), scratch);
  std::vector<double> simple(size);
  std::vector<double> rows(4 * ld);
  std::vector<double> used = tangent;
  gradient_tangent_simply(f, g.data(), used.data(), simple.data(), rows.data());
  std::vector<double> fast(size, std::nan(""));
  gradient_tangent(f, g.data(), tangent.data(), fast.data(), scratch);
  const double tolerance = 16 * (n + 1) * 0x1p-53;
  for (int m = 1; m <= n; ++m) {
    for (int h = 0; h <= n; ++h) {
      const std::size_t at = static_cast<std::size_t>(m) * ld + static_cast<std::size_t>(h);
      const double scale = std::max(1.0, std::abs(simple[at]));
      ASSERT_NEAR(fast[at], simple[at], tolerance * scale) << "row " << m << " column " << h;
    }
  }
  for (std::size_t h = 0; h < ld; ++h) EXPECT_EQ(fast[h], 0) << "row 0";
}

TEST(Tangent, VectorsAreTheDefinition) {
  for_each_target([] {
    for (int n = 1; n <= 41; ++n) {
      for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << " " << to_string(root));
        expect_same_tangent(n, root);
      }
    }
    for (const int n : {62, 63, 64, 127, 150}) expect_same_tangent(n, RootRule::kSingle);
  });
}

}  // namespace
}  // namespace taproot::detail
