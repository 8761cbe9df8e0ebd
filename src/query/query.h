// SPDX-License-Identifier: Apache-2.0
//
// What the queries share.
#pragma once

#include "eliminate/factor_data.h"
#include "taproot/query.h"

namespace taproot::detail {

/// The insides of f; throws SentenceError unless its outcome is ok.
const FactorData& require_ok(const Factorization& f);

/// log Z of the scaled weights.
double scaled_log_partition(const FactorData& data);

/// log p of n heads that are a tree.
double tree_log_prob(const FactorData& data, const std::int32_t* heads);

/// The scaled weights of one head's edges in double, [ld]: kept ones, or computed into `memory`.
const double* weights_of(const FactorData& data, int head, double* memory);

/// Heads whose marginals are made at once: a block of G's columns.
inline constexpr std::size_t kHeads = 8;

/// marginals(), unchecked.
void fill_marginals(const FactorData& data, Scratch& scratch, EdgeMatrix out);

/// Computes the marginals of f and keeps them there, for all later queries.
void keep_marginals(Factorization& f, Workspace& workspace);

/// The marginals, row-major [n+1][ld]: those that f keeps, or new ones in scratch.probabilities.
const double* marginals_in(const FactorData& data, Scratch& scratch);

/// Zero for what rounded below it; NaN stays NaN.
inline double non_negative(double x) { return x < 0 ? 0.0 : x; }

/// clear(h, m) for the edges that no tree has among those that are suspect(h, m). The graph
/// decides: a marginal may round to zero, or away from it.
template <typename Suspect, typename Clear>
void clear_unsupported(const FactorData& data, Scratch& scratch, Suspect&& suspect, Clear&& clear) {
  const auto nodes = static_cast<std::size_t>(data.table.n) + 1;
  std::uint8_t* supported = scratch.supported.resize(nodes);
  for (std::size_t m = 1; m < nodes; ++m) {
    bool known = false;
    for (std::size_t h = 0; h < nodes; ++h) {
      if (!suspect(h, m)) continue;
      if (!known) {
        find_supported_heads(data.table, data.last.data(), static_cast<int>(m), scratch.reach,
                             supported);
        known = true;
      }
      if (supported[h] == 0) clear(h, m);
    }
  }
}

/// Sum of p[h][m] * value(h, m) over the edges with p > 0: 0 * inf counts as 0.
template <typename Value>
double sum_over_edges(const FactorData& data, const double* p, Value&& value) {
  double total = 0;
  for (int h = 0; h <= data.table.n; ++h) {
    const double* row = p + static_cast<std::size_t>(h) * data.table.ld;
    double sum = 0;  // Row by row: fewer roundings pile up.
    for (int m = 1; m <= data.table.n; ++m) {
      if (row[m] > 0) sum += row[m] * value(h, m);
    }
    total += sum;
  }
  return total;
}

}  // namespace taproot::detail
