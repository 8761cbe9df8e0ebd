// SPDX-License-Identifier: Apache-2.0
#include "query/query.h"

namespace taproot {

double entropy(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  const double* p = detail::marginals_in(data, detail::Access::scratch(workspace));
  const double mean_score = detail::sum_over_edges(
      data, p, [&](int h, int m) { return detail::scaled_score(data.table, h, m); });
  return detail::non_negative(detail::scaled_log_partition(data) - mean_score);
}

double entropy(const Factorization& f) {
  Workspace workspace;
  return entropy(f, workspace);
}

}  // namespace taproot
