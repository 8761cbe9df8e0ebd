// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "projective/counting.h"
#include "query/query.h"
#include "query/wide_divergence.h"

namespace taproot {
namespace detail {
namespace {

// Whether q forbids an edge that some tree of p has. Decided on the graph: a marginal may round to
// zero, or away from it.
bool forbids_support(const FactorData& q, const FactorData& p, Scratch& scratch) {
  if (!q.table.has_forbidden) return false;
  const int n = p.table.n;
  const FamilyQueries& family = queries_of(p.family);
  std::uint8_t* supported = scratch.get<QueryScratch>().supported.resize(p.table.nodes());
  bool started = false;
  for (int m = 1; m <= n; ++m) {
    bool differs = false;
    for (int h = 0; h <= n && !differs; ++h) {
      differs = p.table.allows(h, m) && !q.table.allows(h, m);
    }
    if (!differs) continue;
    if (!started) family.start_support(p, scratch);
    started = true;
    family.find_support(p, scratch, m, supported);
    for (int h = 0; h <= n; ++h) {
      if (supported[h] != 0 && !q.table.allows(h, m)) return true;
    }
  }
  return false;
}

// The projective trees of the same scores.
const FactorData& projective_part(const FactorData& data, Scratch& scratch) {
  FactorData& part = scratch.get<QueryScratch>().other;
  const ScoreView scores(data.table.row(0), data.table.n,
                         static_cast<std::ptrdiff_t>(data.table.ld), 1);
  factor_into(part, scores, data.table.root, TreeFamily::kProjective, scratch);
  return part;
}

// Takes the mean under p of value(p's table, q's table, h, m) over the edges and returns
// finish(p, q, mean), or +inf if q forbids a tree of p. `value` is not asked of edges that q
// forbids. Sentences that are not tame are left to wide_divergence().
template <typename Finish, typename Value>
double compare(const Factorization& p, const Factorization& q, Workspace& workspace,
               const char* function, Divergence kind, Finish&& finish, Value&& value) {
  require_ok(p);
  require_ok(q);
  if (p.n() != q.n()) {
    misuse(function,
           "p has " + std::to_string(p.n()) + " words and q has " + std::to_string(q.n()));
  }
  require_same_root(p.root_rule(), q.root_rule(), function);
  Scratch& scratch = Access::scratch(workspace);
  const FactorData* p_family = &Access::data(p);
  const FactorData* q_family = &Access::data(q);
  if (forbids_support(*q_family, *p_family, scratch)) return HUGE_VAL;
  // If one of the two is over projective trees, both are reduced to these: p(t) is then the same,
  // and q(t) is q(t given that t is projective) times the mass of the projective trees.
  double log_mass = 0;
  if (p_family->family != q_family->family) {
    if (q_family->family == TreeFamily::kProjective) {
      if (!all_trees_are_projective(p_family->table)) return HUGE_VAL;
      p_family = &projective_part(*p_family, scratch);
    } else {
      const FactorData& part = projective_part(*q_family, scratch);
      log_mass = scaled_log_partition(part) - scaled_log_partition(*q_family);
      q_family = &part;
    }
  }
  const FactorData& p_data = *p_family;
  const FactorData& q_data = *q_family;
  // As in entropy(): what all trees have in common may be as large as a mask.
  if (!p_data.tame || !q_data.tame) {
    return queries_of(p_data.family).divergence(p_data, q_data, kind, scratch) - log_mass;
  }
  const double* marginals = marginals_in(p_data, scratch);
  const double mean = sum_over_edges(p_data, marginals, [&](int h, int m) {
    return q_data.table.allows(h, m) ? value(p_data.table, q_data.table, h, m) : 0.0;
  });
  return finish(p_data, q_data, mean) - log_mass;
}

}  // namespace
}  // namespace detail

double cross_entropy(const Factorization& p, const Factorization& q, Workspace& workspace) {
  return detail::compare(
      p, q, workspace, "cross_entropy", detail::Divergence::kCrossEntropy,
      [](const auto&, const auto& q_data, double mean_score) {
        return detail::scaled_log_partition(q_data) - mean_score;
      },
      [](const auto&, const auto& q_table, int h, int m) {
        return detail::scaled_score(q_table, h, m);
      });
}

double kl_divergence(const Factorization& p, const Factorization& q, Workspace& workspace) {
  // Edge by edge, so that where p and q agree nothing is left to round.
  return detail::non_negative(detail::compare(
      p, q, workspace, "kl_divergence", detail::Divergence::kRelativeEntropy,
      [](const auto& p_data, const auto& q_data, double mean_difference) {
        return mean_difference +
               (detail::scaled_log_partition(q_data) - detail::scaled_log_partition(p_data));
      },
      [](const auto& p_table, const auto& q_table, int h, int m) {
        return detail::scaled_score(p_table, h, m) - detail::scaled_score(q_table, h, m);
      }));
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
