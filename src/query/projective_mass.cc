// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "query/query.h"

namespace taproot {

double projective_mass(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  detail::FactorData& other = scratch.get<detail::QueryScratch>().other;
  const bool projective = f.family() == TreeFamily::kProjective;
  const ScoreView scores(data.table.row(0), f.n(), static_cast<std::ptrdiff_t>(data.table.ld), 1);
  detail::factor_into(other, scores, f.root_rule(),
                      projective ? TreeFamily::kAll : TreeFamily::kProjective, scratch);
  // Only the smaller family, the projective trees, can be empty here.
  if (!other.outcome.ok()) return 0;
  const double log_ratio = detail::scaled_log_partition(other) - detail::scaled_log_partition(data);
  return detail::nearest_probability(std::exp(projective ? -log_ratio : log_ratio));
}

double projective_mass(const Factorization& f) {
  Workspace workspace;
  return projective_mass(f, workspace);
}

}  // namespace taproot
