// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/elimination_queries.h"
#include "query/query.h"
#include "reverse/gradient.h"
#include "reverse/reverse_scratch.h"
#include "scores/weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "query/marginals.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "eliminate/permute-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

static_assert(kHeads == kBlock);

void fill_heads(const double* gradient, size_t ld, size_t n, const int32_t* position, size_t column,
                const double* const* weights, double* transposed, double* const* out,
                size_t count) {
  multiply_heads(gradient, ld, n, position, column, weights, transposed, ld, out, count);
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot {
namespace detail {

HWY_EXPORT(fill_heads);

namespace {

void fill_wide_marginals(const FactorData& data, const Wide* gradient, EdgeMatrix out) {
  const ScoreTable& table = data.table;
  const MatrixView g(gradient, table.ld);
  for (int h = 0; h <= table.n; ++h) {
    for (int m = 0; m <= table.n; ++m) {
      const Wide p = wide_weight(table, h, m) * g(data.position[m], data.position[h]);
      out.data[h * out.head_stride + m] = nearest_probability(p.to_double());
    }
  }
}

[[maybe_unused]] bool columns_sum_to_one(const FactorData& data, EdgeMatrix p) {
  for (int m = 1; m <= data.table.n; ++m) {
    double sum = 0;
    for (int h = 0; h <= data.table.n; ++h) sum += p.data[h * p.head_stride + m];
    if (!(std::abs(sum - 1) <= 1e-12 * (data.table.n + 1))) return false;
  }
  return true;
}

void check_output(const Factorization& f, const EdgeMatrix& out) {
  require(out.data != nullptr, "marginals", "out is null");
  require(out.head_stride > f.n(), "marginals", "out's rows overlap");
}

}  // namespace

void fill_elimination_marginals(const FactorData& data, Scratch& scratch, EdgeMatrix out) {
  gradient_of(data, scratch);
  const ReverseScratch& reverse = scratch.get<ReverseScratch>();
  if (!data.tame) {
    fill_wide_marginals(data, reverse.wide_gradient.data(), out);
  } else {
    const std::size_t nodes = data.table.nodes();
    const std::size_t ld = data.table.ld;
    double* transposed = scratch.get<QueryScratch>().head_rows.resize(2 * kHeads * ld);
    double* computed = transposed + kHeads * ld;
    // Eight heads at a time, in the order of elimination, read whole cache lines of the gradient.
    for (std::size_t column = 0; column < nodes; column += kHeads) {
      const std::size_t count = std::min(kHeads, nodes - column);
      const double* weights[kHeads];
      double* rows[kHeads];
      for (std::size_t i = 0; i < count; ++i) {
        const int head = data.order[column + i];
        weights[i] = weights_of(data, head, computed + i * ld);
        rows[i] = out.data + head * out.head_stride;
      }
      HWY_DYNAMIC_DISPATCH(fill_heads)
      (reverse.gradient, ld, nodes - 1, data.position.data(), column, weights, transposed, rows,
       count);
    }
  }
}

void fill_marginals(const FactorData& data, Scratch& scratch, EdgeMatrix out) {
  queries_of(data.family).fill_marginals(data, scratch, out);
  TAPROOT_ASSERT_SLOW(columns_sum_to_one(data, out));
}

const double* marginals_in(const FactorData& data, Scratch& scratch) {
  if (data.has_marginals) return data.marginals.data();
  double* p = scratch.get<QueryScratch>().marginals.resize(data.table.size());
  fill_marginals(data, scratch, {p, static_cast<std::ptrdiff_t>(data.table.ld)});
  return p;
}

void keep_marginals(Factorization& f, Workspace& workspace) {
  FactorData& data = Access::data(f);
  if (data.has_marginals) return;
  double* p = data.marginals.resize(data.table.size());
  fill_marginals(data, Access::scratch(workspace), {p, static_cast<std::ptrdiff_t>(data.table.ld)});
  data.has_marginals = true;
}

void marginals_of_factors(const Factorization& f, EdgeMatrix out, Workspace& workspace) {
  const FactorData& data = require_ok(f);
  check_output(f, out);
  fill_marginals(data, Access::scratch(workspace), out);
}

}  // namespace detail

void marginals(const Factorization& f, EdgeMatrix out, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  if (!data.has_marginals) return detail::marginals_of_factors(f, out, workspace);
  detail::check_output(f, out);
  for (int h = 0; h <= f.n(); ++h) {
    std::copy_n(detail::MatrixView(data.marginals.data(), data.table.ld).row(h), f.n() + 1,
                out.data + h * out.head_stride);
  }
}

std::vector<double> marginals(const Factorization& f) {
  detail::require_ok(f);
  const std::size_t side = detail::node_count(f.n());
  std::vector<double> out(side * side);
  Workspace workspace;
  marginals(f, {out.data(), static_cast<std::ptrdiff_t>(side)}, workspace);
  return out;
}

}  // namespace taproot
#endif  // HWY_ONCE
