// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "query/gradient.h"
#include "query/query.h"
#include "scores/weights.h"

namespace taproot {
namespace detail {
namespace {

// Expected steps = sum over words of d_m V[m], with d_m the column's sum (single-root: over words)
// and V[m] = (expected visits of m) / d_m.
// Multi-root: V[m] = G[0][m], the diagonal of the inverse Laplacian.
// Single-root: V[m] = sum over roots r of A[0][r] F(r, m) / Z, F the weight of the forests with the
// two roots r and m. That is the gradient of log Z with respect to the edges of a head that is always
// in the root's part: one more row of the reverse pass, whose weights are 0,
//   V[1] = 0,   V[k] = ((1 - E_k) + sum over m < k of V[m] A[k][m]) / pivot_k.
template <typename T, typename Weight>
double expected_visits(const FactorData& data, const Factors<T>& f, const T* g, const T* rest, T* v,
                       Weight&& weight) {
  const bool single = f.root == RootRule::kSingle;
  T total = T(0);
  for (int k = 1; k <= f.n; ++k) {
    if (!single) {
      v[k] = g[static_cast<std::size_t>(k) * f.ld];
    } else if (k == 1) {
      v[k] = T(0);
    } else {
      T sum = rest[k];
      for (int m = 1; m < k; ++m) sum += v[m] * f.out_of(k, m);
      v[k] = sum / f.pivot(k);
    }
    const int word = data.order[static_cast<std::size_t>(k)];
    T column = T(0);
    for (int h = single ? 1 : 0; h <= f.n; ++h) {
      if (h != word) column += weight(h, word);
    }
    total += column * v[k];
  }
  return to_double(total);
}

}  // namespace
}  // namespace detail

double expected_steps(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f, "expected_steps");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  const std::size_t ld = data.table.ld;
  if (data.wide) {
    detail::Buffer<detail::Wide> rows;
    detail::Wide* rest = rows.resize(2 * ld);
    detail::gradient_of(data, scratch, nullptr, rest);
    return detail::expected_visits(
        data, data.wide_factors(), scratch.wide_square.data(), rest, rest + ld,
        [&](int h, int m) { return detail::wide_weight(data.table, h, m); });
  }
  double* rest = scratch.rows.resize(2 * ld);
  detail::gradient_of(data, scratch, rest);
  const std::size_t nodes = static_cast<std::size_t>(f.n()) + 1;
  double* weights = scratch.probabilities.resize(nodes * ld);
  detail::fill_weights(data.table, 0, f.n() + 1, weights);
  return detail::expected_visits(data, data.factors(), scratch.square.data(), rest, rest + ld,
                                 [=](int h, int m) {
                                   return weights[static_cast<std::size_t>(h) * ld +
                                                  static_cast<std::size_t>(m)];
                                 });
}

double expected_steps(const Factorization& f) {
  Workspace workspace;
  return expected_steps(f, workspace);
}

double expected_tries(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f, "expected_tries");
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  detail::FactorData& other = scratch.other;
  const bool single = f.root_rule() == RootRule::kSingle;
  const auto ld = static_cast<std::ptrdiff_t>(data.table.ld);
  other.outcome = detail::load_scores(ScoreView(data.table.row(0), f.n(), ld, 1),
                                      single ? RootRule::kMulti : RootRule::kSingle, other.table);
  detail::eliminate_table(other, scratch);
  if (!other.outcome.ok()) return HUGE_VAL;
  const detail::FactorData& multi = single ? other : data;
  const detail::FactorData& one = single ? data : other;
  return detail::Wide(multi.mantissa / one.mantissa,
                      static_cast<std::int64_t>((multi.exponent + multi.table.total_scale) -
                                                (one.exponent + one.table.total_scale)))
      .to_double();
}

double expected_tries(const Factorization& f) {
  Workspace workspace;
  return expected_tries(f, workspace);
}

}  // namespace taproot
