// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/query.h"
#include "scores/weights.h"

namespace taproot {
namespace detail {
namespace {

// Row ROOT of the gradient alone, single-root: G[0][k] = sum over m < k of G[0][m] A[k][m] / pivot_k.
// Each G[0][m], once known, is pushed on to the sums of the words k > m: that runs along rows.
template <typename T, typename Weight>
void fill_single(const FactorData& data, const Factors<T>& f, T* g, Weight&& weight,
                 std::span<double> out) {
  std::fill(g + 1, g + f.n + 1, T(0));
  g[1] = T(1);
  for (int m = 1; m <= f.n; ++m) {
    g[m] = g[m] / f.pivot(m);
    const T* row = f.into(m);
    for (int k = m + 1; k <= f.n; ++k) g[k] += g[m] * row[k];
    const int word = data.order[static_cast<std::size_t>(m)];
    out[static_cast<std::size_t>(word) - 1] = to_double(weight(word) * g[m]);
  }
}

}  // namespace
}  // namespace detail

void root_marginals(const Factorization& f, Workspace& workspace, std::span<double> out) {
  const detail::FactorData& data = detail::require_ok(f, "root_marginals");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  const auto n = static_cast<std::size_t>(f.n());
  detail::require(out.size() == n, "root_marginals", "out must have n entries");
  if (f.root_rule() == RootRule::kMulti) {
    const double* p = detail::marginals_in(data, scratch);
    std::copy(p + 1, p + 1 + n, out.begin());
  } else if (data.wide) {
    detail::fill_single(data, data.wide_factors(), scratch.wide_rows.resize(data.table.ld),
                [&](int word) { return detail::wide_weight(data.table, 0, word); }, out);
  } else {
    double* memory = scratch.rows.resize(2 * data.table.ld);
    const double* weights = detail::weights_of(data, 0, memory);
    detail::fill_single(data, data.factors(), memory + data.table.ld,
                [=](int word) { return weights[word]; }, out);
  }
}

std::vector<double> root_marginals(const Factorization& f) {
  std::vector<double> out(static_cast<std::size_t>(f.n()));
  Workspace workspace;
  root_marginals(f, workspace, out);
  return out;
}

}  // namespace taproot
