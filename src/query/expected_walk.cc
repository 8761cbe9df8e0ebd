// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "eliminate/condition.h"
#include "query/query.h"
#include "reverse/gradient.h"
#include "scores/weights.h"

namespace taproot {
namespace detail {
namespace {

// The expected number of steps is the sum over words of d_m V[m]: d_m the sum of m's column over
// the heads that the walk draws from, V[m] d_m the expected number of its visits to m.
//
// Multi-root, V[m] = G[0][m], the diagonal of the inverse Laplacian.
//
// Single-root, V[m] is the mean over the root r, with p_r = A[0][r] Z_r / Z, of the same diagonal
// for the words rooted at r, which is F(r, m) / Z_r, with F the weight of the forests with roots r
// and m. Let H be the gradient given one root o. The forests of two roots are related to those of o
// by
//     F(r, m) = Z_r H[r][m] + Z_m H[m][r]            (a walk's commute between r and m)
// for any o; so V[m] = sum over r of p_r H[r][m] + (Z_m / Z) A[0][r] H[m][r]. For o we take the
// most probable root: then no term is more than n times their sum, and no digits are lost between
// them.

// H by sentence index, as wide as the data given the root need it.
class RootedGradient {
 public:
  RootedGradient(const FactorData& data, const Scratch& scratch) : data_(data), scratch_(scratch) {}
  Wide operator()(int head, int modifier) const {
    const std::size_t at =
        static_cast<std::size_t>(data_.position[static_cast<std::size_t>(modifier)]) *
            data_.table.ld +
        static_cast<std::size_t>(data_.position[static_cast<std::size_t>(head)]);
    return data_.tame ? Wide(scratch_.square[at]) : scratch_.wide_square[at];
  }

 private:
  const FactorData& data_;
  const Scratch& scratch_;
};

// The sum of the scaled weights of a word's column over the heads that the walk draws from.
Wide column_sum(const ScoreTable& table, int word) {
  Wide sum = 0.0;
  for (int h = table.root == RootRule::kSingle ? 1 : 0; h <= table.n; ++h) {
    if (h != word) sum += wide_weight(table, h, word);
  }
  return sum;
}

Wide multi_root_steps(const FactorData& data, Scratch& scratch) {
  gradient_of(data, scratch);
  const RootedGradient g(data, scratch);
  Wide total = 0.0;
  for (int m = 1; m <= data.table.n; ++m) total += column_sum(data.table, m) * g(0, m);
  return total;
}

// Z_m / Z for every word, by sentence index; of the scaled weights.
const Wide* root_shares(const FactorData& data, Scratch& scratch) {
  const auto n = static_cast<std::size_t>(data.table.n);
  Wide* by_position = scratch.wide_rows.resize(4 * data.table.ld);
  Wide* shares = by_position + data.table.ld;
  root_gradient(wide_factors_of(data, scratch), by_position);
  for (std::size_t k = 1; k <= n; ++k) {
    shares[static_cast<std::size_t>(data.order[k])] = by_position[k];
  }
  return shares;
}

Wide single_root_steps(const FactorData& data, Scratch& scratch) {
  const int n = data.table.n;
  const auto index = [](int i) { return static_cast<std::size_t>(i); };
  // Two vectors that must outlive the eliminations below, which use the scratch's rows.
  Buffer<Wide> kept;
  Wide* share = kept.resize(2 * data.table.ld);
  Wide* root_weight = share + data.table.ld;
  std::copy_n(root_shares(data, scratch) + 1, n, share + 1);
  int likeliest = 0;
  double best = -1;
  for (int r = 1; r <= n; ++r) {
    root_weight[index(r)] = wide_weight(data.table, 0, r);
    const double p = (root_weight[index(r)] * share[index(r)]).to_double();
    if (p > best) {
      best = p;
      likeliest = r;
    }
  }
  eliminate_given_root(data, likeliest, scratch);
  gradient_of(scratch.other, scratch);
  const RootedGradient h(scratch.other, scratch);
  Wide total = 0.0;
  for (int m = 1; m <= n; ++m) {
    Wide v = 0.0;
    for (int r = 1; r <= n; ++r) {
      if (r == m || data.last[index(r)] == 0)
        continue;  // No tree has that root, whatever its edge.
      v += root_weight[index(r)] * (share[index(r)] * h(r, m) + share[index(m)] * h(m, r));
    }
    total += column_sum(data.table, m) * v;
  }
  return total;
}

}  // namespace
}  // namespace detail

double expected_steps(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  return (f.root_rule() == RootRule::kMulti ? detail::multi_root_steps(data, scratch)
                                            : detail::single_root_steps(data, scratch))
      .to_double();
}

double expected_steps(const Factorization& f) {
  Workspace workspace;
  return expected_steps(f, workspace);
}

double expected_tries(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::Scratch& scratch = detail::Access::scratch(workspace);
  detail::FactorData& other = scratch.other;
  const bool single = f.root_rule() == RootRule::kSingle;
  const auto ld = static_cast<std::ptrdiff_t>(data.table.ld);
  detail::eliminate_into(other, ScoreView(data.table.row(0), f.n(), ld, 1),
                         single ? RootRule::kMulti : RootRule::kSingle, scratch);
  if (!other.outcome.ok()) return HUGE_VAL;
  const detail::FactorData& multi = single ? other : data;
  const detail::FactorData& one = single ? data : other;
  // Column by column: the scales' own sums may be beyond what a double holds exactly.
  double exponent = multi.exponent - one.exponent - one.table.root_scale;
  for (std::size_t m = 1; m <= static_cast<std::size_t>(f.n()); ++m) {
    exponent += multi.table.scale[m] - one.table.scale[m];
  }
  // Beyond this it is 0 or infinite all the same.
  return std::ldexp(multi.mantissa / one.mantissa,
                    static_cast<int>(std::clamp(exponent, -5000.0, 5000.0)));
}

double expected_tries(const Factorization& f) {
  Workspace workspace;
  return expected_tries(f, workspace);
}

}  // namespace taproot
