// SPDX-License-Identifier: Apache-2.0
#include "projective/fill_chart.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/format.h"
#include "core/host_device.h"
#include "projective/inside.h"
#include "projective/support.h"
#include "scores/weights.h"

namespace taproot::detail {

double scale_columns(const ScoreTable& table, const double* weights, const double* sums,
                     double* factors) {
  constexpr double kLeastSum = 0x1p-1000;
  const bool single = table.root == RootRule::kSingle;
  double total = 0;
  // 2^-e for a sum in [2^(e-1), 2^e), from its bits. Sums are zero or normal, because the largest
  // weight of a column is near 1 (of the ROOT row: of the columns where it counts).
  const auto factor_of = [&](double sum) {
    if (!(sum >= kLeastSum)) return 1.0;
    const auto e = static_cast<std::int64_t>(bits_of_double(sum) >> 52) - 1022;
    total += static_cast<double>(e);
    return double_of_bits(static_cast<std::uint64_t>(1023 - e) << 52);
  };
  double root_sum = 0;
  for (int m = 1; m <= table.n; ++m) {
    factors[m] = factor_of(sums[m] + (single ? 0.0 : weights[m]));
    root_sum += weights[m] * factors[m];
  }
  factors[0] = single ? factor_of(root_sum) : 1.0;
  return total;
}

bool covers_flushed(double flushed, double bits, int n) {
  const double log2_edges = 2.0 * std::bit_width(static_cast<unsigned>(n) + 1);
  return flushed + bits + log2_edges <= -kNegligibleBits;
}

namespace {

// Whether every positive entry lies within [kSafeLow, kSafeHigh], so that no product of two has
// underflowed or overflowed.
bool entries_within(const ChartView<double>& c) {
  const auto within = [](const double* x, int count) {
    return std::all_of(x, x + count, [](double value) {
      return value == 0 || (value >= kSafeLow && value <= kSafeHigh);
    });
  };
  for (int d = 0; d < c.size(); ++d) {
    for (std::size_t t = 0; t < kChartTables; ++t) {
      if (d == 0 && t > kLeft) continue;  // These tables have spans of two positions or more.
      if (!within(c.row(t, d), c.size() - d)) return false;
    }
  }
  return !c.shape().single() || within(c.roots(), c.size());
}

// Returns x such that weights times 2^x would bring the chart near 1. It is found from Z if Z is
// reliable, or else from the longest spans whose largest entry is. It is 0 if there are none.
double correction(const ChartView<double>& c, double z, int edges) {
  constexpr double kReliable = 0x1p-900;
  if (z >= kReliable && z <= 1 / kReliable) return -std::log2(z) / edges;
  for (int d = c.size() - 1; d >= 1; --d) {
    double top = 0;
    for (const ChartTable t : {kRight, kLeft}) {
      top = std::max(top, *std::max_element(c.row(t, d), c.row(t, d) + c.size() - d));
    }
    if (top >= kReliable && top <= 1 / kReliable) return -std::log2(top) / d;
  }
  return 0;
}

// How often a common factor is chosen anew before double is given up.
constexpr int kTries = 3;

// Fills the chart in double. Returns whether that is enough: whether what it loses of Z is below
// 2^-kNegligibleBits of it. docs/numerics.md ("Projective trees") has the reasons.
bool fill_double(const ScoreTable& table, const double* weights, const double* sums, double flushed,
                 Chart& chart, ProjectiveScratch& scratch) {
  double* factors = scratch.factors.resize(table.ld);
  const double taken = scale_columns(table, weights, sums, factors);
  const ChartView<double> c = chart.view();
  double common = 0;  // All weights are multiplied by 2^common.
  for (int attempt = 0; attempt <= kTries; ++attempt) {
    load_diagonals(c, weights, table.ld, 0.0, [=](int, int m, double w) { return w * factors[m]; });
    for (int m = 0; c.shape().single() && m < c.size(); ++m) c.roots()[m] *= factors[0];
    inside(c);
    const double z = c.total();
    if (z > 0 && std::isfinite(z)) {
      int exponent = 0;
      chart.mantissa = std::frexp(z, &exponent);
      chart.exponent = exponent - common * table.n + taken;
      const double bits = common * table.n - std::log2(z);
      if (covers_flushed(flushed, bits, table.n)) {
        if (common == 0 && bits <= kSafeBits) return true;
        if (common != 0 && z >= kSafeLow && z <= kSafeHigh && entries_within(c)) return true;
      }
    }
    const double change = std::nearbyint(correction(c, z, table.n));
    if (change == 0) return false;
    common += change;
    const double factor = std::ldexp(1.0, static_cast<int>(change));
    for (int m = 1; m <= table.n; ++m) factors[m] *= factor;
  }
  return false;
}

}  // namespace

bool fill_chart(const ScoreTable& table, const double* weights, const double* sums, double flushed,
                Chart& chart, ProjectiveScratch& scratch) {
  chart.shape = chart_shape(table.n, table.root);
  chart.wide = false;
  chart.memory.resize(chart.shape.memory(kChartTables));
  if (fill_double(table, weights, sums, flushed, chart, scratch)) return true;
  if (table.has_forbidden && !has_projective_tree(table, scratch)) return false;
  fill_wide_chart(table, chart);
  return true;
}

void fill_wide_chart(const ScoreTable& table, Chart& chart) {
  chart.shape = chart_shape(table.n, table.root);
  chart.wide = true;
  chart.wide_memory.resize(chart.shape.memory(kChartTables));
  const ChartView<Wide> c = chart.wide_view();
  load_diagonals(c, table.row(0), table.ld, Wide(0.0),
                 [&](int h, int m, double) { return wide_weight(table, h, m); });
  inside_simply(c);
  const Wide z = c.total();
  chart.mantissa = z.mantissa();
  chart.exponent = static_cast<double>(z.exponent());
}

}  // namespace taproot::detail
