// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/elimination_queries.h"
#include "query/query.h"
#include "reverse/gradient.h"
#include "reverse/reverse_scratch.h"
#include "reverse/tangent.h"
#include "scores/weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "query/hessian.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "eliminate/permute-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Copies the direction to values, [n+1][ld], with 0 in place of edges that are not allowed. Returns
// the largest magnitude, or NaN if a value is not finite.
double load_direction(const ScoreTable& table, const double* direction, double* values) {
  const D d;
  const size_t side = table.nodes();
  V largest = hn::Zero(d);
  V poison = hn::Zero(d);
  for (size_t h = 0; h < side; ++h) {
    const double* scores = table.row(h);  // -inf beyond column n.
    double* row = values + h * table.ld;
    std::copy(direction + h * side, direction + (h + 1) * side, row);
    for (size_t m = 0; m < side; m += kLanes) {
      const auto forbidden = hn::Eq(hn::LoadU(d, scores + m), hn::Set(d, -HUGE_VAL));
      const V value = hn::IfThenZeroElse(forbidden, hn::LoadU(d, row + m));
      largest = hn::Max(largest, hn::Abs(value));
      poison = hn::MulAdd(value, hn::Zero(d), poison);
      hn::StoreU(value, d, row + m);
    }
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest)) + hn::GetLane(hn::SumOfLanes(d, poison));
}

// x with the digits of a float, so that subtracting it from doubles of its size does not round.
HWY_INLINE double shortened(double x) { return double{static_cast<float>(x)}; }

// Multiplies one head's values by `factor`, and adds them to the weighted sums of the columns.
void add_head(double* HWY_RESTRICT values, const double* HWY_RESTRICT weights, size_t n,
              double factor, double* HWY_RESTRICT sum, double* HWY_RESTRICT mass) {
  for (size_t m = 0; m <= n; ++m) {
    values[m] *= factor;
    sum[m] += weights[m] * values[m];
    mass[m] += weights[m];
  }
}

// Subtracts from every column its weighted mean. If single-root, then subtracts from the ROOT row
// its mean under p, row 0 of the marginals. The values of ROOT may be far larger than the means of
// their columns, so what the first subtraction rounds away is added again after the second.
void subtract_means(double* values, size_t ld, size_t n, bool single, const double* p,
                    double* HWY_RESTRICT sum, const double* HWY_RESTRICT mass) {
  for (size_t m = 0; m <= n; ++m) {
    // A word without word heads has only ROOT, so its mean is the value of that edge.
    sum[m] = mass[m] > 0 ? shortened(sum[m] / mass[m]) : values[m];
  }
  for (size_t h = single ? 1 : 0; h <= n; ++h) {
    double* HWY_RESTRICT value = values + h * ld;
    for (size_t m = 0; m <= n; ++m) value[m] -= sum[m];
  }
  if (single) {
    double mean = 0;
    for (size_t m = 1; m <= n; ++m) mean += p[m] * (values[m] - sum[m]);
    mean = shortened(mean);
    values[0] -= sum[0];
    for (size_t m = 1; m <= n; ++m) {
      const double rest = values[m] - sum[m];
      const double subtracted = values[m] - rest;  // Two-sum (Knuth): all of this is exact.
      const double lost = (values[m] - (rest + subtracted)) - (sum[m] - subtracted);
      values[m] = (rest - mean) + lost;
    }
  }
}

// tangent[position[m]][column + i] = weights[i][m] * values[i][m] for kBlock heads i.
void fill_tangent(const double* const* weights, const double* const* values, size_t ld, size_t n,
                  const int32_t* position, size_t column, double* products, double* tangent) {
  const double* rows[kBlock];
  for (size_t i = 0; i < kBlock; ++i) {
    double* row = products + i * ld;
    for (size_t m = 0; m <= n; m += kBlock) {
      store(multiply(load(weights[i] + m), load(values[i] + m)), row + m);
    }
    rows[i] = row;
  }
  heads_to_position(rows, n, position, column, tangent, ld);
}

// out[i][m] = scale * (out[i][m] * values[i][m] + weights[i][m] * tangent[position[m]][column + i])
// for `count` heads i, where out holds the marginals on entry.
void combine_heads(const double* tangent, size_t ld, size_t n, const int32_t* position,
                   size_t column, const double* const* weights, const double* const* values,
                   double scale, double* transposed, double* const* out, size_t count) {
  heads_by_position(tangent, ld, n, position, column, transposed, ld);
  for (size_t i = 0; i < count; ++i) {
    const double* HWY_RESTRICT weight = weights[i];
    const double* HWY_RESTRICT value = values[i];
    const double* HWY_RESTRICT slope = transposed + i * ld;
    double* HWY_RESTRICT row = out[i];
    for (size_t m = 0; m <= n; ++m) row[m] = scale * (row[m] * value[m] + weight[m] * slope[m]);
  }
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot {
namespace detail {

HWY_EXPORT(load_direction);
HWY_EXPORT(add_head);
HWY_EXPORT(subtract_means);
HWY_EXPORT(fill_tangent);
HWY_EXPORT(combine_heads);

namespace {

// Sets values that are not finite to 0 at edges that no tree has. Returns the largest magnitude, or
// NaN if other values are not finite.
double largest_supported(const FactorData& data, double* values, Scratch& scratch) {
  const MatrixView value(values, data.table.ld);
  clear_unsupported(
      data, scratch, [&](int h, int m) { return !std::isfinite(value(h, m)); },
      [&](int h, int m) { value(h, m) = 0; });
  double largest = 0;
  for (int h = 0; h <= data.table.n; ++h) {
    for (int m = 0; m <= data.table.n; ++m) {
      if (!std::isfinite(value(h, m))) return NAN;
      largest = std::max(largest, std::abs(value(h, m)));
    }
  }
  return largest;
}

// Multiplies the values by `factor`, and subtracts from each column its mean, which does not change
// the product but would cost digits. The means are weighted, so that large values at negligible
// edges do not dominate; single-root, they exclude ROOT, whose row is centered by itself.
void center(const FactorData& data, double* values, double factor, const double* root_marginals,
            QueryScratch& own) {
  const std::size_t n = data.table.nodes() - 1;
  const std::size_t ld = data.table.ld;
  const bool single = data.table.root == RootRule::kSingle;
  double* sum = own.column_means.resize(3 * ld);
  double* mass = sum + ld;
  double* memory = mass + ld;
  std::fill(sum, sum + 2 * ld, 0.0);
  for (int h = single ? 1 : 0; h <= data.table.n; ++h) {
    HWY_DYNAMIC_DISPATCH(add_head)
    (MatrixView(values, ld).row(h), weights_of(data, h, memory), n, factor, sum, mass);
  }
  if (single) std::transform(values, values + n + 1, values, [=](double x) { return x * factor; });
  HWY_DYNAMIC_DISPATCH(subtract_means)(values, ld, n, single, root_marginals, sum, mass);
}

void fill_wide(const FactorData& data, const double* values, double scale, Scratch& scratch,
               EdgeMatrix out) {
  const ScoreTable& table = data.table;
  QueryScratch& own = scratch.get<QueryScratch>();
  Wide* tangent = own.wide_tangents.resize(2 * table.size());
  Wide* gradient_tangent = tangent + table.size();
  const MatrixView value(values, table.ld);
  const auto by_word = [&](Wide* matrix, int h, int m) -> Wide& {
    return MatrixView(matrix, table.ld)(data.position[m], data.position[h]);
  };
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 0; m <= table.n; ++m) {
      by_word(tangent, h, m) = wide_weight(table, h, m) * value(h, m);
    }
  }
  gradient_tangent_simply(wide_factors_of(data, scratch),
                          scratch.get<ReverseScratch>().wide_gradient.data(), tangent,
                          gradient_tangent, own.wide_tangent_rows.resize(4 * table.ld));
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 0; m <= table.n; ++m) {
      double& cell = out.data[h * out.head_stride + m];
      const Wide moved = wide_weight(table, h, m) * by_word(gradient_tangent, h, m);
      cell = scale * (cell * value(h, m) + moved.to_double());
    }
  }
}

void fill_tame(const FactorData& data, const double* values, double scale, Scratch& scratch,
               EdgeMatrix out) {
  const std::size_t nodes = data.table.nodes();
  const std::size_t n = nodes - 1;
  const std::size_t ld = data.table.ld;
  QueryScratch& own = scratch.get<QueryScratch>();
  double* tangent = own.tangents.resize(2 * data.table.size());
  double* gradient_tangent = tangent + data.table.size();
  // Calls `body` for eight heads at a time. In place of heads beyond the last, the weights are 0.
  const auto for_each_block = [&](auto&& body) {
    double* memory = own.head_rows.resize((2 * kHeads + 1) * ld);
    double* zero = memory + 2 * kHeads * ld;
    std::fill(zero, zero + ld, 0.0);
    for (std::size_t column = 0; column < nodes; column += kHeads) {
      const std::size_t count = std::min(kHeads, nodes - column);
      const double* weights[kHeads];
      const double* rows[kHeads];
      double* results[kHeads];
      for (std::size_t i = 0; i < kHeads; ++i) {
        const int head = i < count ? data.order[column + i] : 0;
        weights[i] = i < count ? weights_of(data, head, memory + (kHeads + i) * ld) : zero;
        rows[i] = MatrixView(values, ld).row(head);
        results[i] = out.data + head * out.head_stride;
      }
      body(column, count, weights, rows, memory, results);
    }
  };
  for_each_block([&](std::size_t column, std::size_t, const double* const* weights,
                     const double* const* rows, double* memory, double* const*) {
    HWY_DYNAMIC_DISPATCH(fill_tangent)
    (weights, rows, ld, n, data.position.data(), column, memory, tangent);
  });
  taproot::detail::gradient_tangent(data.factors(), scratch.get<ReverseScratch>().gradient, tangent,
                                    gradient_tangent, scratch);
  for_each_block([&](std::size_t column, std::size_t count, const double* const* weights,
                     const double* const* rows, double* memory, double* const* results) {
    HWY_DYNAMIC_DISPATCH(combine_heads)
    (gradient_tangent, ld, n, data.position.data(), column, weights, rows, scale, memory, results,
     count);
  });
}

// Here, because the dispatch takes no qualified name where one instruction set is compiled.
double load(const ScoreTable& table, const double* direction, double* values) {
  return HWY_DYNAMIC_DISPATCH(load_direction)(table, direction, values);
}

}  // namespace

void fill_elimination_hessian(const FactorData& data, const double* values, double scale,
                              Scratch& scratch, EdgeMatrix out) {
  (data.tame ? fill_tame : fill_wide)(data, values, scale, scratch, out);
}

}  // namespace detail

void hessian_product(const Factorization& f, std::span<const double> direction, EdgeMatrix out,
                     Workspace& workspace) {
  constexpr const char* kName = "hessian_product";
  const detail::FactorData& data = detail::require_ok(f);
  const std::size_t side = detail::node_count(f.n());
  detail::require(direction.size() == side * side, kName, "direction must have (n+1)^2 entries");
  detail::require(out.data != nullptr, kName, "out is null");
  detail::require(out.head_stride > f.n(), kName, "out's rows overlap");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  detail::QueryScratch& own = scratch.get<detail::QueryScratch>();
  double* values = own.direction.resize(data.table.size());
  double largest = detail::load(data.table, direction.data(), values);
  if (!std::isfinite(largest)) largest = detail::largest_supported(data, values, scratch);
  detail::require(std::isfinite(largest), kName, "direction is not finite at an edge of some tree");
  // Scaling by a power of two keeps directions near the ends of double's range from overflowing or
  // underflowing on the way.
  const int exponent = largest > 0 ? std::clamp(std::ilogb(largest), -1000, 1000) : 0;
  detail::fill_marginals(data, scratch, out);
  detail::center(data, values, std::ldexp(1.0, -exponent), out.data, own);
  detail::queries_of(data.family)
      .fill_hessian(data, values, std::ldexp(1.0, exponent), scratch, out);
}

std::vector<double> hessian_product(const Factorization& f, std::span<const double> direction) {
  detail::require_ok(f);
  const std::size_t side = detail::node_count(f.n());
  std::vector<double> out(side * side);
  Workspace workspace;
  hessian_product(f, direction, {out.data(), static_cast<std::ptrdiff_t>(side)}, workspace);
  return out;
}

}  // namespace taproot
#endif  // HWY_ONCE
