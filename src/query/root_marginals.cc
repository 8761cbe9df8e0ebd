// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/check.h"
#include "query/query.h"
#include "reverse/gradient.h"
#include "scores/weights.h"

namespace taproot {

void root_marginals(const Factorization& f, std::span<double> out, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  detail::QueryScratch& own = scratch.get<detail::QueryScratch>();
  const int n = f.n();
  detail::require(std::ssize(out) == n, "root_marginals", "out must have n entries");
  if (f.root_rule() == RootRule::kMulti) {
    const double* p = detail::marginals_in(data, scratch);
    std::copy_n(p + 1, n, out.begin());
    return;
  }
  const std::size_t ld = data.table.ld;
  if (data.tame) {
    double* g = own.root_rows.resize(2 * ld);
    const double* weights = detail::weights_of(data, 0, g + ld);
    detail::root_gradient(data.factors(), g);
    for (int k = 1; k <= n; ++k) {
      const int word = data.order[k];
      out.data()[word - 1] = detail::nearest_probability(weights[word] * g[k]);
    }
  } else {
    detail::Wide* g = own.wide_root_rows.resize(ld);
    detail::root_gradient(detail::wide_factors_of(data, scratch), g);
    for (int k = 1; k <= n; ++k) {
      const int word = data.order[k];
      const detail::Wide p = detail::wide_weight(data.table, 0, word) * g[k];
      out.data()[word - 1] = detail::nearest_probability(p.to_double());
    }
  }
}

std::vector<double> root_marginals(const Factorization& f) {
  std::vector<double> out(static_cast<std::size_t>(f.n()));
  Workspace workspace;
  root_marginals(f, out, workspace);
  return out;
}

}  // namespace taproot
