// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "query/gradient.h"
#include "query/query.h"
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

// The same scores with all ROOT edges but one forbidden, eliminated into scratch.other.
void eliminate_given_root(const FactorData& data, int root, Scratch& scratch) {
  const ScoreTable& table = data.table;
  const std::size_t size = (static_cast<std::size_t>(table.n) + 1) * table.ld;
  double* scores = scratch.probabilities.resize(size);
  std::copy(table.row(0), table.row(0) + size, scores);
  for (int m = 1; m <= table.n; ++m) {
    if (m != root) scores[m] = -HUGE_VAL;
  }
  const ScoreView view(scores, table.n, static_cast<std::ptrdiff_t>(table.ld), 1);
  load_scores(view, RootRule::kSingle, scratch.other.table);
  eliminate_table(scratch.other, scratch);
}

// Z_m / Z for every word, by sentence index; of the scaled weights.
void root_shares(const FactorData& data, Buffer<Wide>& shares, Wide* by_position) {
  const auto n = static_cast<std::size_t>(data.table.n);
  shares.resize(n + 1);
  if (data.wide) {
    root_gradient(data.wide_factors(), by_position);
    for (std::size_t k = 1; k <= n; ++k) {
      shares[static_cast<std::size_t>(data.order[k])] = by_position[k];
    }
  } else {
    Buffer<double> g;
    root_gradient(data.factors(), g.resize(n + 1));
    for (std::size_t k = 1; k <= n; ++k) shares[static_cast<std::size_t>(data.order[k])] = g[k];
  }
}

Wide single_root_steps(const FactorData& data, Scratch& scratch) {
  const int n = data.table.n;
  const auto index = [](int i) { return static_cast<std::size_t>(i); };
  Buffer<Wide> share;
  root_shares(data, share, scratch.wide_rows.resize(data.table.ld));
  Buffer<Wide> root_weight;
  root_weight.resize(index(n) + 1);
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
      if (r == m || root_weight[index(r)].is_zero()) continue;
      v += root_weight[index(r)] * (share[index(r)] * h(r, m) + share[index(m)] * h(m, r));
    }
    total += column_sum(data.table, m) * v;
  }
  return total;
}

}  // namespace
}  // namespace detail

double expected_steps(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f, "expected_steps");
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
  // Column by column: the scales' own sums may be beyond what a double holds exactly.
  double exponent = multi.exponent - one.exponent - one.table.root_scale;
  for (std::size_t m = 1; m <= static_cast<std::size_t>(f.n()); ++m) {
    exponent += multi.table.scale[m] - one.table.scale[m];
  }
  return detail::Wide(multi.mantissa / one.mantissa, static_cast<std::int64_t>(exponent))
      .to_double();
}

double expected_tries(const Factorization& f) {
  Workspace workspace;
  return expected_tries(f, workspace);
}

}  // namespace taproot
