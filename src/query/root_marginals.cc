// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/check.h"
#include "query/elimination_queries.h"
#include "query/query.h"
#include "reverse/gradient.h"
#include "scores/weights.h"

namespace taproot {

void detail::fill_elimination_root_marginals(const FactorData& data, Scratch& scratch,
                                             std::span<double> out) {
  QueryScratch& own = scratch.get<QueryScratch>();
  const int n = data.table.n;
  const std::size_t ld = data.table.ld;
  if (data.tame) {
    double* g = own.root_rows.resize(2 * ld);
    const double* weights = weights_of(data, 0, g + ld);
    root_gradient(data.factors(), g);
    for (int k = 1; k <= n; ++k) {
      const int word = data.order[k];
      out.data()[word - 1] = nearest_probability(weights[word] * g[k]);
    }
  } else {
    Wide* g = own.wide_root_rows.resize(ld);
    root_gradient(wide_factors_of(data, scratch), g);
    for (int k = 1; k <= n; ++k) {
      const int word = data.order[k];
      const Wide p = wide_weight(data.table, 0, word) * g[k];
      out.data()[word - 1] = nearest_probability(p.to_double());
    }
  }
}

void root_marginals(const Factorization& f, std::span<double> out, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  detail::require(std::ssize(out) == f.n(), "root_marginals", "out must have n entries");
  if (f.root_rule() == RootRule::kMulti) {
    std::copy_n(detail::marginals_in(data, scratch) + 1, f.n(), out.begin());
  } else {
    detail::queries_of(data.family).fill_root_marginals(data, scratch, out);
  }
}

std::vector<double> root_marginals(const Factorization& f) {
  std::vector<double> out(static_cast<std::size_t>(f.n()));
  Workspace workspace;
  root_marginals(f, out, workspace);
  return out;
}

}  // namespace taproot
