// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/query.h"
#include "scores/ln2.h"

namespace taproot {
namespace detail {
namespace {

// log Z with the columns' scales taken out, but not the ROOT row's: what goes with scaled_score().
double log_partition_of_columns(const FactorData& data) {
  return log_scaled(data.mantissa, data.exponent + data.table.root_scale);
}

void require_comparable(const Factorization& p, const Factorization& q, const char* function) {
  require(p.n() == q.n(), function, "the two sentences differ in length");
  require(p.root_rule() == q.root_rule(), function, "the two differ in their root rule");
}

// Whether q forbids an edge that some tree of p has. Decided on the graph: a marginal may round to
// zero, or away from it.
bool forbids_support(const FactorData& q, const FactorData& p, Scratch& scratch) {
  if (!q.table.has_forbidden) return false;
  const int n = p.table.n;
  const auto nodes = static_cast<std::size_t>(n) + 1;
  Buffer<std::uint8_t> supported;
  supported.resize(nodes);
  for (int m = 1; m <= n; ++m) {
    bool differs = false;
    for (int h = 0; h <= n && !differs; ++h) {
      differs = p.table.allows(h, m) && !q.table.allows(h, m);
    }
    if (!differs) continue;
    find_supported_heads(p.table, p.last.data(), m, scratch.reach, supported.data());
    for (int h = 0; h <= n; ++h) {
      if (supported[static_cast<std::size_t>(h)] != 0 && !q.table.allows(h, m)) return true;
    }
  }
  return false;
}

}  // namespace
}  // namespace detail

double entropy(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f, "entropy");
  const double* p = detail::marginals_in(data, detail::Access::scratch(workspace));
  const double mean_score = detail::sum_over_edges(
      data, p, [&](int h, int m) { return detail::scaled_score(data.table, h, m); });
  // A single tree's 0 may round below.
  return std::max(0.0, detail::log_partition_of_columns(data) - mean_score);
}

double expectation(const Factorization& f, std::span<const double> values, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f, "expectation");
  const std::size_t side = static_cast<std::size_t>(f.n()) + 1;
  detail::require(values.size() == side * side, "expectation", "values must have (n+1)^2 entries");
  const double* p = detail::marginals_in(data, detail::Access::scratch(workspace));
  return detail::sum_over_edges(data, p, [&](int h, int m) {
    return values[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)];
  });
}

double cross_entropy(const Factorization& p, const Factorization& q, Workspace& workspace) {
  const detail::FactorData& p_data = detail::require_ok(p, "cross_entropy");
  const detail::FactorData& q_data = detail::require_ok(q, "cross_entropy");
  detail::require_comparable(p, q, "cross_entropy");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  if (detail::forbids_support(q_data, p_data, scratch)) return HUGE_VAL;
  const double* marginals = detail::marginals_in(p_data, scratch);
  const double mean_score = detail::sum_over_edges(p_data, marginals, [&](int h, int m) {
    return q_data.table.allows(h, m) ? detail::scaled_score(q_data.table, h, m) : 0.0;
  });
  return detail::log_partition_of_columns(q_data) - mean_score;
}

double kl_divergence(const Factorization& p, const Factorization& q, Workspace& workspace) {
  const detail::FactorData& p_data = detail::require_ok(p, "kl_divergence");
  const detail::FactorData& q_data = detail::require_ok(q, "kl_divergence");
  detail::require_comparable(p, q, "kl_divergence");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  if (detail::forbids_support(q_data, p_data, scratch)) return HUGE_VAL;
  const double* marginals = detail::marginals_in(p_data, scratch);
  // Edge by edge, so that where p and q agree nothing is left to round.
  const double mean_difference = detail::sum_over_edges(p_data, marginals, [&](int h, int m) {
    if (!q_data.table.allows(h, m)) return 0.0;
    return detail::scaled_score(p_data.table, h, m) - detail::scaled_score(q_data.table, h, m);
  });
  return std::max(0.0, mean_difference + (detail::log_partition_of_columns(q_data) -
                                          detail::log_partition_of_columns(p_data)));
}

double entropy(const Factorization& f) {
  Workspace workspace;
  return entropy(f, workspace);
}

double expectation(const Factorization& f, std::span<const double> values) {
  Workspace workspace;
  return expectation(f, values, workspace);
}

double cross_entropy(const Factorization& p, const Factorization& q) {
  Workspace workspace;
  return cross_entropy(p, q, workspace);
}

double kl_divergence(const Factorization& p, const Factorization& q) {
  Workspace workspace;
  return kl_divergence(p, q, workspace);
}

}  // namespace taproot
