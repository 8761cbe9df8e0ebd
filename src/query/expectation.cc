// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/query.h"

namespace taproot {

double expectation(const Factorization& f, std::span<const double> values, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  const std::size_t side = static_cast<std::size_t>(f.n()) + 1;
  detail::require(values.size() == side * side, "expectation", "values must have (n+1)^2 entries");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  const double* p = detail::marginals_in(data, scratch);
  const std::size_t ld = data.table.ld;
  double* own = scratch.probabilities.data();
  detail::clear_unsupported(
      data, scratch,
      [&](std::size_t h, std::size_t m) {
        return !std::isfinite(values[h * side + m]) && p[h * ld + m] > 0;
      },
      [&](std::size_t h, std::size_t m) {
        if (p != own) {  // Those that f keeps are not ours to change.
          own = scratch.probabilities.resize(side * ld);
          std::copy_n(p, side * ld, own);
          p = own;
        }
        own[h * ld + m] = 0;
      });
  return detail::sum_over_edges(data, p, [&](int h, int m) {
    return values[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)];
  });
}

double expectation(const Factorization& f, std::span<const double> values) {
  Workspace workspace;
  return expectation(f, values, workspace);
}

}  // namespace taproot
