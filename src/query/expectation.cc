// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/query.h"

namespace taproot {

double expectation(const Factorization& f, std::span<const double> values, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  const std::size_t side = detail::node_count(f.n());
  detail::require(values.size() == side * side, "expectation", "values must have (n+1)^2 entries");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  const double* p = detail::marginals_in(data, scratch);
  const detail::MatrixView value(values.data(), side);
  detail::Buffer<double>& own = scratch.get<detail::QueryScratch>().marginals;
  detail::clear_unsupported(
      data, scratch,
      [&](int h, int m) {
        return !std::isfinite(value(h, m)) && detail::MatrixView(p, data.table.ld)(h, m) > 0;
      },
      [&](int h, int m) {
        // The marginals that f keeps must not change.
        if (p != own.data()) {
          p = std::copy_n(p, data.table.size(), own.resize(data.table.size())) - data.table.size();
        }
        detail::MatrixView(own.data(), data.table.ld)(h, m) = 0;
      });
  return detail::sum_over_edges(data, p, value);
}

double expectation(const Factorization& f, std::span<const double> values) {
  Workspace workspace;
  return expectation(f, values, workspace);
}

}  // namespace taproot
