// SPDX-License-Identifier: Apache-2.0
#include "query/query.h"
#include "query/wide_divergence.h"

namespace taproot {

double entropy(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  // In a tame sentence no tree that matters has a large scaled score. Beyond that, log Z and the
  // mean score may both be near -1e9, and their difference would lose digits.
  if (!data.tame) {
    return detail::non_negative(
        detail::queries_of(data.family)
            .divergence(data, data, detail::Divergence::kCrossEntropy, scratch));
  }
  const double* p = detail::marginals_in(data, scratch);
  const double mean_score = detail::sum_over_edges(
      data, p, [&](int h, int m) { return detail::scaled_score(data.table, h, m); });
  return detail::non_negative(detail::scaled_log_partition(data) - mean_score);
}

double entropy(const Factorization& f) {
  Workspace workspace;
  return entropy(f, workspace);
}

}  // namespace taproot
