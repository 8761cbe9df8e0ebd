// SPDX-License-Identifier: Apache-2.0
#include "projective/outside.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "projective/inside.h"
#include "unit/core/targets.h"
#include "unit/projective/random_chart.h"

namespace taproot::detail {
namespace {

// What lies before and behind the matrix must stay as it is.
class Matrix {
 public:
  explicit Matrix(int n) : n_(n), cells_((node_count(n) + 2) * stride(), 7) {}
  std::size_t stride() const { return node_count(n_) + 3; }
  EdgeMatrix view() { return {cells_.data() + stride(), static_cast<std::ptrdiff_t>(stride())}; }
  double operator()(int h, int m) { return view().data[h * view().head_stride + m]; }
  bool is_intact() const {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const bool inside =
          i / stride() >= 1 && i / stride() <= node_count(n_) && i % stride() < node_count(n_);
      if (!inside && cells_[i] != 7) return false;
    }
    return true;
  }

 private:
  int n_;
  std::vector<double> cells_;
};

template <typename Body>
void for_each_shape(Body&& body) {
  for (int n = 1; n <= 41; ++n) {
    for (const RootRule root : {RootRule::kSingle, RootRule::kMulti}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << " " << to_string(root));
      body(n, root);
    }
  }
  body(100, RootRule::kSingle);
}

TEST(Outside, IsTheDefinition) {
  for_each_target([] {
    for_each_shape([](int n, RootRule root) {
      RandomChart chart(n, root, 0.3);
      const ChartShape& shape = chart.shape;
      const ChartView<double> c = chart.view();
      inside(c);
      const double seed = 1 / c.total();
      Buffer<double> memory;
      std::fill_n(memory.resize(shape.memory(kOutsideTables)), shape.memory(kOutsideTables), NAN);
      Matrix p(n);
      outside(c, seed, {memory.data(), shape, kOutsideTables}, p.view());
      EXPECT_TRUE(p.is_intact());
      Buffer<double> simple;
      const ChartView<double> out(simple.resize(shape.memory(kOutsideTables)), shape,
                                  kOutsideTables);
      outside_simply(c, seed, out, [&](int d, int i, double right, double left) {
        const int node = i + shape.first;
        ASSERT_NEAR(p(node, node + d), right * c(kRightEdge, d, i), 16 * (n + 1) * 0x1p-53);
        ASSERT_NEAR(p(node + d, node), left * c(kLeftEdge, d, i), 16 * (n + 1) * 0x1p-53);
      });
    });
  });
}

TEST(Outside, DerivativesAreTheDefinition) {
  for_each_target([] {
    for_each_shape([](int n, RootRule root) {
      RandomChart chart(n, root, 0.3);
      const ChartShape& shape = chart.shape;
      const std::size_t size = shape.memory(kChartTables);
      const std::size_t out_size = shape.memory(kOutsideTables);
      Buffer<double> memory;
      std::fill_n(memory.resize(2 * size), 2 * size, 0.0);
      std::copy_n(chart.memory.data(), size, memory.data());
      const ChartView<double> values(memory.data(), shape, kChartTables);
      const ChartView<double> slopes(memory.data() + size, shape, kChartTables);
      for (std::size_t i = 0; i < size; ++i) {
        if (memory[i] == memory[i]) memory[size + i] = memory[i] * std::cos(static_cast<double>(i));
      }
      Buffer<Dual<double>> simple_memory;
      const ChartView<Dual<double>> c(simple_memory.resize(size), shape, kChartTables);
      for (std::size_t t = kRightWeight; t <= kChartTables; ++t) {  // Weights and ROOT edges.
        if (t == kChartTables && !shape.single()) continue;
        for (int d = t == kChartTables ? 0 : 1; d < (t == kChartTables ? 1 : shape.size); ++d) {
          for (int i = 0; i + d < shape.size; ++i) c(t, d, i) = {values(t, d, i), slopes(t, d, i)};
        }
      }
      inside_simply(c);
      const Dual<double> z = c.total();
      const Dual<double> seed(1 / z.value, -z.slope / (z.value * z.value));
      inside_dual(values, static_cast<std::ptrdiff_t>(size));
      Buffer<double> out_memory;
      std::fill_n(out_memory.resize(2 * out_size), 2 * out_size, NAN);
      Matrix p(n);
      outside_dual(values, seed.value, seed.slope, {out_memory.data(), shape, kOutsideTables},
                   static_cast<std::ptrdiff_t>(size), static_cast<std::ptrdiff_t>(out_size), 2,
                   p.view());
      EXPECT_TRUE(p.is_intact());
      Buffer<Dual<double>> simple;
      const ChartView<Dual<double>> out(simple.resize(out_size), shape, kOutsideTables);
      outside_simply(
          c, seed, out, [&](int d, int i, const Dual<double>& right, const Dual<double>& left) {
            const int node = i + shape.first;
            const double tolerance = 256 * (n + 1) * (n + 1) * 0x1p-53;
            ASSERT_NEAR(p(node, node + d), 2 * (right * c(kRightEdge, d, i)).slope, tolerance);
            ASSERT_NEAR(p(node + d, node), 2 * (left * c(kLeftEdge, d, i)).slope, tolerance);
          });
    });
  });
}

}  // namespace
}  // namespace taproot::detail
