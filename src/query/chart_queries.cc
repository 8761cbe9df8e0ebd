// SPDX-License-Identifier: Apache-2.0
#include "query/chart_queries.h"

#include <algorithm>
#include <type_traits>

#include "core/probability.h"
#include "projective/fill_chart.h"
#include "projective/inside.h"
#include "projective/outside.h"
#include "projective/support.h"
#include "query/divergence_entry.h"
#include "query/query_scratch.h"
#include "scores/weights.h"

namespace taproot::detail {
namespace {

// Zeros where the passes write nothing: column 0, the diagonal and, single-root, the ROOT row.
void clear(const ChartShape& shape, EdgeMatrix out) {
  const int n = shape.size + shape.first - 1;
  std::fill_n(out.data, n + 1, 0.0);
  for (int h = 0; h <= n; ++h) {
    double* row = out.data + h * out.head_stride;
    row[0] = row[h] = 0;
  }
}

// Calls write(h, m, x) with the outside value of the edge h -> m times its inside value, for all
// edges between positions.
template <typename In, typename T, typename Write>
void for_each_edge(const ChartView<In>& c, const T& seed, Buffer<T>& memory, Write&& write) {
  const ChartView<T> out(memory.resize(c.shape().memory(kOutsideTables)), c.shape(),
                         kOutsideTables);
  outside_simply(c, seed, out, [&](int d, int i, const T& right, const T& left) {
    const int node = i + c.shape().first;
    write(node, node + d, right * c(kRightEdge, d, i));
    write(node + d, node, left * c(kLeftEdge, d, i));
  });
}

}  // namespace

void fill_chart_root_marginals(const FactorData& data, Scratch&, std::span<double> out) {
  data.chart.with_view([&](const auto& c) {
    const auto z = c.total();
    for (int m = 0; m < c.size(); ++m)
      out.data()[m] = nearest_probability(to_double(c.root_term(m) / z));
  });
}

void fill_chart_marginals(const FactorData& data, Scratch& scratch, EdgeMatrix out) {
  ProjectiveScratch& own = scratch.get<ProjectiveScratch>();
  const ChartShape& shape = data.chart.shape;
  clear(shape, out);
  if (data.chart.wide) {
    const ChartView<const Wide> c = data.chart.wide_view();
    for_each_edge(c, Wide(1.0) / c.total(), own.wide_outside, [&](int h, int m, const Wide& p) {
      out.data[h * out.head_stride + m] = nearest_probability(to_double(p));
    });
  } else {
    const ChartView<const double> c = data.chart.view();
    const ChartView<double> result(own.outside.resize(shape.memory(kOutsideTables)), shape,
                                   kOutsideTables);
    outside(c, 1 / c.total(), result, out);
  }
  if (!shape.single()) return;
  fill_chart_root_marginals(data, scratch, {out.data + 1, static_cast<std::size_t>(shape.size)});
}

void start_chart_support(const FactorData& data, Scratch& scratch) {
  const std::size_t nodes = data.table.nodes();
  find_projective_support(data.table, scratch.get<ProjectiveScratch>(),
                          scratch.get<QueryScratch>().support.resize(nodes * nodes));
}

void find_chart_support(const FactorData& data, Scratch& scratch, int modifier,
                        std::uint8_t* supported) {
  const MatrixView support(scratch.get<QueryScratch>().support.data(), data.table.nodes());
  for (int h = 0; h <= data.table.n; ++h) supported[h] = support(h, modifier);
}

namespace {

// Both passes over numbers with derivatives: over Wide by their definition.
void fill_wide_hessian(const FactorData& data, const double* values, double scale,
                       ProjectiveScratch& own, EdgeMatrix out) {
  using Number = Dual<Wide>;
  const ChartShape& shape = data.chart.shape;
  const ChartView<Number> c(own.wide_slopes.resize(shape.memory(kChartTables)), shape,
                            kChartTables);
  load_diagonals(c, values, data.table.ld, Number(0), [&](int h, int m, double value) {
    const Wide w = wide_weight(data.table, h, m);
    return Number(w, w * value);
  });
  inside_simply(c);
  const Number z = c.total();
  const Wide inverse = Wide(1.0) / z.value;
  const Number seed(inverse, -(inverse * inverse * z.slope));
  for_each_edge(c, seed, own.wide_out_slopes, [&](int h, int m, const Number& p) {
    out.data[h * out.head_stride + m] = scale * to_double(p.slope);
  });
  for (int m = 0; shape.single() && m < shape.size; ++m) {
    out.data[m + 1] = scale * to_double((seed * c.root_term(m)).slope);
  }
}

// The same in vectors.
void fill_double_hessian(const FactorData& data, const double* values, double scale,
                         ProjectiveScratch& own, EdgeMatrix out) {
  const ChartShape& shape = data.chart.shape;
  const std::size_t size = shape.memory(kChartTables);
  const std::size_t out_size = shape.memory(kOutsideTables);
  double* memory = own.slopes.resize(2 * size);
  const ChartView<double> c(memory, shape, kChartTables);
  const ChartView<double> slopes(memory + size, shape, kChartTables);
  const ChartView<const double> kept = data.chart.view();
  load_diagonals(slopes, values, data.table.ld, 0.0, [](int, int, double x) { return x; });
  const auto copy = [](const double* weights, double* to, double* slope, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = weights[i];
      slope[i] *= weights[i];
    }
  };
  for (const ChartTable t : {kRightWeight, kLeftWeight}) {
    for (int d = 1; d < shape.size; ++d) {
      const auto padded = static_cast<std::size_t>((shape.size - d + 7) / 8 * 8);
      copy(kept.row(t, d), c.row(t, d), slopes.row(t, d), padded);
    }
  }
  if (shape.single()) copy(kept.roots(), c.roots(), slopes.roots(), shape.rows());
  const auto slope = static_cast<std::ptrdiff_t>(size);
  inside_dual(c, slope);
  using Number = Dual<double>;
  const auto at = [&](std::size_t t, int d, int i) { return Number(c(t, d, i), slopes(t, d, i)); };
  const auto root_term = [&](int m) {
    return at(kChartTables, 0, m) * at(kLeft, m, 0) * at(kRight, shape.size - 1 - m, m);
  };
  Number z(0);
  if (shape.single()) {
    for (int m = 0; m < shape.size; ++m) z = z + root_term(m);
  } else {
    z = at(kRight, shape.size - 1, 0);
  }
  const Number seed(1 / z.value, -(z.slope / z.value) / z.value);
  double* out_memory = own.outside.resize(2 * out_size);
  outside_dual(c, seed.value, seed.slope, {out_memory, shape, kOutsideTables}, slope,
               static_cast<std::ptrdiff_t>(out_size), scale, out);
  for (int m = 0; shape.single() && m < shape.size; ++m) {
    out.data[m + 1] = scale * (seed * root_term(m)).slope;
  }
}

template <Divergence kKind>
double mean_log(const FactorData& p, const FactorData& q) {
  using Entry = DivergenceEntry<kKind>;
  const ChartShape shape = chart_shape(p.table.n, p.table.root);
  Buffer<Entry> memory;
  const ChartView<Entry> c(memory.resize(shape.memory(kChartTables)), shape, kChartTables);
  load_diagonals(c, p.table.row(0), p.table.ld, Entry(0), [&](int h, int m, double) {
    // An edge that q forbids is in no tree of p, so p may forbid it, too.
    const bool allowed = q.table.allows(h, m);
    return Entry(
        WideEntry{allowed ? wide_weight(p.table, h, m) : Wide(0.0), wide_weight(q.table, h, m), 0});
  });
  inside_simply(c);
  return c.total().gap;
}

}  // namespace

void fill_chart_hessian(const FactorData& data, const double* values, double scale,
                        Scratch& scratch, EdgeMatrix out) {
  clear(data.chart.shape, out);
  (data.tame ? fill_double_hessian : fill_wide_hessian)(data, values, scale,
                                                        scratch.get<ProjectiveScratch>(), out);
}

double chart_divergence(const FactorData& p, const FactorData& q, Divergence kind, Scratch&) {
  return kind == Divergence::kCrossEntropy ? -mean_log<Divergence::kCrossEntropy>(p, q)
                                           : -mean_log<Divergence::kRelativeEntropy>(p, q);
}

}  // namespace taproot::detail
