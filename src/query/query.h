// SPDX-License-Identifier: Apache-2.0
//
// Functions that the queries share.
#pragma once

#include "core/probability.h"
#include "eliminate/factor_data.h"
#include "query/family.h"
#include "query/query_scratch.h"
#include "taproot/query.h"

namespace taproot::detail {

/// The data of f. Throws SentenceError unless its outcome is ok.
const FactorData& require_ok(const Factorization& f);

/// Throws std::invalid_argument unless p and q have the same root rule.
void require_same_root(RootRule p, RootRule q, const char* function);

/// log Z of the scaled weights.
double scaled_log_partition(const FactorData& data);

/// The log-probability of a tree, given as n heads. They are not checked.
double tree_log_prob(const FactorData& data, const std::int32_t* heads);

/// The scaled weights of one head's edges in double, [ld]. If `data` does not keep them, they are
/// computed into `memory`.
const double* weights_of(const FactorData& data, int head, double* memory);

/// The number of heads whose marginals are computed together, from as many columns of the gradient.
inline constexpr std::size_t kHeads = 8;

/// marginals() without checks.
void fill_marginals(const FactorData& data, Scratch& scratch, EdgeMatrix out);

/// Computes the marginals of f and keeps them there, for all later queries.
void keep_marginals(Factorization& f, Workspace& workspace);

/// marginals() from the factors alone, while another thread may be keeping them.
void marginals_of_factors(const Factorization& f, EdgeMatrix out, Workspace& workspace);

/// The marginals, row-major [n+1][ld]: those that `data` keeps, or new ones in
/// QueryScratch::marginals.
const double* marginals_in(const FactorData& data, Scratch& scratch);

/// Calls clear(h, m) for every edge with suspect(h, m) that no tree has. This is decided on the
/// graph, because the marginal of such an edge may round to something other than zero.
template <typename Suspect, typename Clear>
void clear_unsupported(const FactorData& data, Scratch& scratch, Suspect&& suspect, Clear&& clear) {
  std::uint8_t* supported = scratch.get<QueryScratch>().supported.resize(data.table.nodes());
  const FamilyQueries& family = queries_of(data.family);
  bool started = false;
  for (int m = 1; m <= data.table.n; ++m) {
    bool known = false;
    for (int h = 0; h <= data.table.n; ++h) {
      if (!suspect(h, m)) continue;
      if (!started) family.start_support(data, scratch);
      if (!known) family.find_support(data, scratch, m, supported);
      started = known = true;
      if (supported[h] == 0) clear(h, m);
    }
  }
}

/// The sum of p[h][m] * value(h, m) over the edges with p[h][m] > 0, so that 0 * inf counts as 0.
template <typename Value>
double sum_over_edges(const FactorData& data, const double* p, Value&& value) {
  double total = 0;
  for (int h = 0; h <= data.table.n; ++h) {
    const double* row = MatrixView(p, data.table.ld).row(h);
    double sum = 0;  // A sum per row accumulates fewer rounding errors.
    for (int m = 1; m <= data.table.n; ++m) {
      if (row[m] > 0) sum += row[m] * value(h, m);
    }
    total += sum;
  }
  return total;
}

}  // namespace taproot::detail
