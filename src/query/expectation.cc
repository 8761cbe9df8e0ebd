// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "query/query.h"

namespace taproot {
namespace detail {
namespace {

// A marginal may round away from zero: where a value is infinite or NaN, the graph decides whether
// some tree has the edge. Sets the marginals of those that none has to 0, in scratch.probabilities.
void clear_unsupported(const FactorData& data, std::span<const double> values, Scratch& scratch) {
  const auto nodes = static_cast<std::size_t>(data.table.n) + 1;
  double* p = scratch.probabilities.data();
  std::uint8_t* supported = scratch.supported.resize(nodes);
  for (std::size_t m = 1; m < nodes; ++m) {
    bool found = false;
    for (std::size_t h = 0; h < nodes; ++h) {
      if (std::isfinite(values[h * nodes + m]) || !(p[h * data.table.ld + m] > 0)) continue;
      if (!found) {
        find_supported_heads(data.table, data.last.data(), static_cast<int>(m), scratch.reach,
                             supported);
        found = true;
      }
      if (supported[h] == 0) p[h * data.table.ld + m] = 0;
    }
  }
}

}  // namespace
}  // namespace detail

double expectation(const Factorization& f, std::span<const double> values, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f, "expectation");
  const std::size_t side = static_cast<std::size_t>(f.n()) + 1;
  detail::require(values.size() == side * side, "expectation", "values must have (n+1)^2 entries");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  const double* p = detail::marginals_in(data, scratch);
  detail::clear_unsupported(data, values, scratch);
  return detail::sum_over_edges(data, p, [&](int h, int m) {
    return values[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)];
  });
}

double expectation(const Factorization& f, std::span<const double> values) {
  Workspace workspace;
  return expectation(f, values, workspace);
}

}  // namespace taproot
