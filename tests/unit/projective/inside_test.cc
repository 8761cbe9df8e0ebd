// SPDX-License-Identifier: Apache-2.0
//
// The vector code against the definition, entry by entry, at every length where blocks begin or
// end, for every instruction set.
#include "projective/inside.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/core/targets.h"
#include "unit/projective/random_chart.h"

namespace taproot::detail {
namespace {

// A number under (max, +).
struct Best {
  double value;
  Best() = default;
  explicit Best(int one) : value(one != 0 ? 0 : -HUGE_VAL) {}
  explicit Best(double score) : value(score) {}
  friend Best operator+(Best a, Best b) { return Best(std::max(a.value, b.value)); }
  friend Best operator*(Best a, Best b) { return Best(a.value + b.value); }
};

template <typename Visit>
void for_each_entry(const ChartShape& shape, Visit&& visit) {
  for (const ChartTable t : {kRight, kLeft, kSplit, kRightEdge, kLeftEdge}) {
    for (int d = t <= kLeft ? 0 : 1; d < shape.size; ++d) {
      for (int i = 0; i + d < shape.size; ++i) visit(t, d, i);
    }
  }
}

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

// A chart of the same weights over T.
template <typename T, typename From>
ChartView<T> converted(const ChartView<double>& from, Buffer<T>& memory, From&& make) {
  const ChartView<T> to(memory.resize(from.shape().memory(kChartTables)), from.shape(),
                        kChartTables);
  for (const ChartTable t : {kRightWeight, kLeftWeight}) {
    for (int d = 1; d < from.size(); ++d) {
      for (int i = 0; i + d < from.size(); ++i) to(t, d, i) = make(t, d, i);
    }
  }
  return to;
}

TEST(Inside, IsTheDefinition) {
  for_each_target([] {
    for_each_shape([](int n, RootRule root) {
      RandomChart chart(n, root, 0.3);
      Buffer<double> memory;
      const auto simple = converted<double>(
          chart.view(), memory, [&](ChartTable t, int d, int i) { return chart.view()(t, d, i); });
      inside(chart.view());
      inside_simply(simple);
      for_each_entry(chart.shape, [&](ChartTable t, int d, int i) {
        const double exact = simple(t, d, i);
        ASSERT_NEAR(chart.view()(t, d, i), exact, 8 * (n + 1) * 0x1p-53 * exact)
            << "table " << int{t} << " at " << d << ", " << i;
      });
    });
  });
}

TEST(Inside, OverMaxAndPlusIsTheDefinition) {
  for_each_target([] {
    for_each_shape([](int n, RootRule root) {
      RandomChart chart(n, root, 3, true);
      Buffer<Best> memory;
      const auto simple = converted<Best>(chart.view(), memory, [&](ChartTable t, int d, int i) {
        return Best(chart.view()(t, d, i));
      });
      inside_best(chart.view());
      inside_simply(simple);
      // The same sums in the same order.
      for_each_entry(chart.shape, [&](ChartTable t, int d, int i) {
        ASSERT_EQ(chart.view()(t, d, i), simple(t, d, i).value)
            << "table " << int{t} << " at " << d << ", " << i;
      });
    });
  });
}

TEST(Inside, DerivativesAreTheDefinition) {
  for_each_target([] {
    for_each_shape([](int n, RootRule root) {
      RandomChart chart(n, root, 0.3);
      const std::size_t size = chart.shape.memory(kChartTables);
      Buffer<double> memory;
      std::fill_n(memory.resize(2 * size), 2 * size, 0.0);
      std::copy_n(chart.memory.data(), size, memory.data());
      const ChartView<double> values(memory.data(), chart.shape, kChartTables);
      const ChartView<double> slopes(memory.data() + size, chart.shape, kChartTables);
      for (const ChartTable t : {kRightWeight, kLeftWeight}) {
        for (int d = 1; d < chart.shape.size; ++d) {
          for (int i = 0; i + d < chart.shape.size; ++i) {
            slopes(t, d, i) = values(t, d, i) * std::cos(t + d * 7 + i);
          }
        }
      }
      Buffer<Dual<double>> simple_memory;
      const auto simple =
          converted<Dual<double>>(values, simple_memory, [&](ChartTable t, int d, int i) {
            return Dual<double>(values(t, d, i), slopes(t, d, i));
          });
      inside_dual(values, static_cast<std::ptrdiff_t>(size));
      inside_simply(simple);
      for_each_entry(chart.shape, [&](ChartTable t, int d, int i) {
        const Dual<double> exact = simple(t, d, i);
        ASSERT_NEAR(values(t, d, i), exact.value, 8 * (n + 1) * 0x1p-53 * exact.value);
        // Slopes have both signs: their error is relative to the value times the edges in it.
        ASSERT_NEAR(slopes(t, d, i), exact.slope,
                    64 * (n + 1) * 0x1p-53 * (d + 1) * exact.value * 3)
            << "table " << int{t} << " at " << d << ", " << i;
      });
    });
  });
}

}  // namespace
}  // namespace taproot::detail
