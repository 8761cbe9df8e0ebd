// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/query.h"
#include "reverse/gradient.h"
#include "reverse/tangent.h"
#include "scores/weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "query/hessian.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "eliminate/permute-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// values[h][m], rows of ld, takes the direction where the edge is allowed and 0 elsewhere. Returns
// the largest magnitude, or NaN if one of them is not finite.
double load_direction(const ScoreTable& table, const double* direction, double* values) {
  const D d;
  const size_t side = static_cast<size_t>(table.n) + 1;
  V largest = hn::Zero(d);
  V poison = hn::Zero(d);
  for (size_t h = 0; h < side; ++h) {
    const double* scores = table.row(static_cast<int>(h));  // -inf beyond column n.
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

// With few digits, so that subtracting it from doubles of its size rounds nothing.
HWY_INLINE double shortened(double x) { return static_cast<double>(static_cast<float>(x)); }

// Multiplies one head's values by `factor` and adds them to the weighted sums, m <= n.
void add_head(double* HWY_RESTRICT values, const double* HWY_RESTRICT weights, size_t n,
              double factor, double* HWY_RESTRICT sum, double* HWY_RESTRICT mass) {
  for (size_t m = 0; m <= n; ++m) {
    values[m] *= factor;
    sum[m] += weights[m] * values[m];
    mass[m] += weights[m];
  }
}

// Subtracts its weighted mean from every column, and then from the ROOT row if single-root its mean
// under p, row 0 of the marginals.
void subtract_means(double* values, size_t ld, size_t n, bool single, const double* p,
                    double* HWY_RESTRICT sum, const double* HWY_RESTRICT mass) {
  for (size_t m = 0; m <= n; ++m) {
    // A word without word heads has ROOT alone.
    sum[m] = mass[m] > 0 ? shortened(sum[m] / mass[m]) : values[m];
  }
  for (size_t h = 0; h <= n; ++h) {
    double* HWY_RESTRICT value = values + h * ld;
    for (size_t m = 0; m <= n; ++m) value[m] -= sum[m];
  }
  if (single) {
    double mean = 0;
    for (size_t m = 1; m <= n; ++m) mean += p[m] * values[m];
    mean = shortened(mean);
    for (size_t m = 1; m <= n; ++m) values[m] -= mean;
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
// for `count` heads i; out holds the marginals.
void finish(const double* tangent, size_t ld, size_t n, const int32_t* position, size_t column,
            const double* const* weights, const double* const* values, double scale,
            double* transposed, double* const* out, size_t count) {
  heads_by_position(tangent, ld, n, position, column, transposed);
  for (size_t i = 0; i < count; ++i) {
    const double* HWY_RESTRICT weight = weights[i];
    const double* HWY_RESTRICT value = values[i];
    const double* HWY_RESTRICT slope = transposed + i * ld;
    double* HWY_RESTRICT row = out[i];
    for (size_t m = 0; m <= n; ++m) row[m] = scale * (row[m] * value[m] + weight[m] * slope[m]);
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot {
namespace detail {

HWY_EXPORT(load_direction);
HWY_EXPORT(add_head);
HWY_EXPORT(subtract_means);
HWY_EXPORT(fill_tangent);
HWY_EXPORT(finish);

namespace {

// The largest magnitude once values that are not finite, at edges that no tree has, are 0; NaN if
// there are others.
double largest_supported(const FactorData& data, double* values, Scratch& scratch) {
  const std::size_t ld = data.table.ld;
  clear_unsupported(
      data, scratch,
      [&](std::size_t h, std::size_t m) { return !std::isfinite(values[h * ld + m]); },
      [&](std::size_t h, std::size_t m) { values[h * ld + m] = 0; });
  double largest = 0;
  for (std::size_t i = 0; i < (static_cast<std::size_t>(data.table.n) + 1) * ld; ++i) {
    if (i % ld > static_cast<std::size_t>(data.table.n)) continue;
    if (!std::isfinite(values[i])) return NAN;
    largest = std::max(largest, std::abs(values[i]));
  }
  return largest;
}

// Multiplies the values by `factor` and takes out what all heads of a word have in common, and
// single-root all ROOT edges: H does not see it, but digits would be lost to it. Means by weight,
// so that values at negligible edges, however large, do not displace the others; single-root of the
// word heads alone, because elimination compares those with each other.
void center(const FactorData& data, double* values, double factor, const double* root_marginals,
            Scratch& scratch) {
  const auto n = static_cast<std::size_t>(data.table.n);
  const std::size_t ld = data.table.ld;
  const bool single = data.table.root == RootRule::kSingle;
  double* sum = scratch.rows.resize(3 * ld);
  double* mass = sum + ld;
  std::fill(sum, sum + 2 * ld, 0.0);
  for (std::size_t h = single ? 1 : 0; h <= n; ++h) {
    HWY_DYNAMIC_DISPATCH(add_head)
    (values + h * ld, weights_of(data, static_cast<int>(h), mass + ld), n, factor, sum, mass);
  }
  if (single) std::transform(values, values + n + 1, values, [=](double x) { return x * factor; });
  HWY_DYNAMIC_DISPATCH(subtract_means)(values, ld, n, single, root_marginals, sum, mass);
}

void fill_wide(const FactorData& data, const double* values, double scale, Scratch& scratch,
               EdgeMatrix out) {
  const ScoreTable& table = data.table;
  const std::size_t ld = table.ld;
  const std::size_t size = (static_cast<std::size_t>(table.n) + 1) * ld;
  Wide* tangent = scratch.wide_tangents.resize(2 * size);
  Wide* gradient_tangent = tangent + size;
  const auto at = [&](int h, int m) {
    const auto row = static_cast<std::size_t>(data.position[static_cast<std::size_t>(m)]);
    return row * ld + static_cast<std::size_t>(data.position[static_cast<std::size_t>(h)]);
  };
  const auto value = [&](int h, int m) {
    return values[static_cast<std::size_t>(h) * ld + static_cast<std::size_t>(m)];
  };
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 0; m <= table.n; ++m) tangent[at(h, m)] = wide_weight(table, h, m) * value(h, m);
  }
  gradient_tangent_simply(wide_factors_of(data, scratch), scratch.wide_square.data(), tangent,
                          gradient_tangent, scratch.wide_rows.resize(4 * ld));
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 0; m <= table.n; ++m) {
      double& cell = out.data[h * out.head_stride + m];
      const Wide moved = wide_weight(table, h, m) * gradient_tangent[at(h, m)];
      cell = scale * (cell * value(h, m) + moved.to_double());
    }
  }
}

void fill_tame(const FactorData& data, const double* values, double scale, Scratch& scratch,
               EdgeMatrix out) {
  const auto n = static_cast<std::size_t>(data.table.n);
  const std::size_t ld = data.table.ld;
  double* tangent = scratch.tangents.resize(2 * (n + 1) * ld);
  double* gradient_tangent = tangent + (n + 1) * ld;
  // Eight heads at a time, there and back; what is beyond the last head is zero.
  const auto for_each_block = [&](auto&& body) {
    double* memory = scratch.panel.resize((2 * kHeads + 1) * ld);
    double* zero = memory + 2 * kHeads * ld;
    std::fill(zero, zero + ld, 0.0);
    for (std::size_t column = 0; column <= n; column += kHeads) {
      const std::size_t count = std::min(kHeads, n + 1 - column);
      const double* weights[kHeads];
      const double* rows[kHeads];
      double* results[kHeads];
      for (std::size_t i = 0; i < kHeads; ++i) {
        const int head = i < count ? data.order[column + i] : 0;
        weights[i] = i < count ? weights_of(data, head, memory + (kHeads + i) * ld) : zero;
        rows[i] = values + static_cast<std::size_t>(head) * ld;
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
  taproot::detail::gradient_tangent(data.factors(), scratch.square.data(), tangent,
                                    gradient_tangent, scratch);
  for_each_block([&](std::size_t column, std::size_t count, const double* const* weights,
                     const double* const* rows, double* memory, double* const* results) {
    HWY_DYNAMIC_DISPATCH(finish)
    (gradient_tangent, ld, n, data.position.data(), column, weights, rows, scale, memory, results,
     count);
  });
}

}  // namespace
}  // namespace detail

void hessian_product(const Factorization& f, std::span<const double> direction, EdgeMatrix out,
                     Workspace& workspace) {
  constexpr const char* kName = "hessian_product";
  const detail::FactorData& data = detail::require_ok(f);
  const std::size_t side = static_cast<std::size_t>(f.n()) + 1;
  detail::require(direction.size() == side * side, kName, "direction must have (n+1)^2 entries");
  detail::require(out.data != nullptr, kName, "out is null");
  detail::require(out.head_stride > f.n(), kName, "out's rows overlap");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  const std::size_t ld = data.table.ld;
  double* values = scratch.probabilities.resize(side * ld);
  double largest =
      HWY_DYNAMIC_DISPATCH(detail::load_direction)(data.table, direction.data(), values);
  if (!std::isfinite(largest)) largest = detail::largest_supported(data, values, scratch);
  detail::require(std::isfinite(largest), kName, "direction is not finite at an edge of some tree");
  // A power of two, for directions near the ends of double's range.
  const int exponent = largest > 0 ? std::clamp(std::ilogb(largest), -1000, 1000) : 0;
  detail::fill_marginals(data, scratch, out);
  detail::center(data, values, std::ldexp(1.0, -exponent), out.data, scratch);
  (data.tame ? detail::fill_tame : detail::fill_wide)(data, values, std::ldexp(1.0, exponent),
                                                      scratch, out);
}

std::vector<double> hessian_product(const Factorization& f, std::span<const double> direction) {
  detail::require_ok(f);
  const std::size_t side = static_cast<std::size_t>(f.n()) + 1;
  std::vector<double> out(side * side);
  Workspace workspace;
  hessian_product(f, direction, {out.data(), static_cast<std::ptrdiff_t>(side)}, workspace);
  return out;
}

}  // namespace taproot
#endif  // HWY_ONCE
