// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "query/query.h"

namespace taproot {

double expectation(const Factorization& f, std::span<const double> values, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f, "expectation");
  const std::size_t side = detail::node_count(f.n());
  detail::require(values.size() == side * side, "expectation", "values must have (n+1)^2 entries");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  detail::marginals_in(data, scratch);
  const detail::MatrixView value(values.data(), side);
  const detail::MatrixView p(scratch.get<detail::QueryScratch>().marginals.data(), data.table.ld);
  detail::clear_unsupported(
      data, scratch, [&](int h, int m) { return !std::isfinite(value(h, m)) && p(h, m) > 0; },
      [&](int h, int m) { p(h, m) = 0; });
  return detail::sum_over_edges(data, p.row(0), value);
}

double expectation(const Factorization& f, std::span<const double> values) {
  Workspace workspace;
  return expectation(f, values, workspace);
}

}  // namespace taproot
