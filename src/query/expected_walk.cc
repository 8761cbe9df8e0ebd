// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "eliminate/condition.h"
#include "query/query.h"
#include "reverse/gradient.h"
#include "reverse/reverse_scratch.h"
#include "scores/weights.h"

namespace taproot {
namespace detail {
namespace {

// The expected number of steps is the sum over words m of d_m V[m]. Here d_m is the sum of m's
// column over the heads that the walk chooses from, and V[m] d_m is the expected number of visits.
// docs/math.md ("Wilson's walk") derives V for both root rules.

// The gradient of `data` by word instead of by position, over Wide whether the data is tame or not.
class GradientByWord {
 public:
  GradientByWord(const FactorData& data, Scratch& scratch)
      : data_(data), reverse_(scratch.get<ReverseScratch>()) {
    gradient_of(data, scratch);
  }
  Wide operator()(int head, int modifier) const {
    const int row = data_.position[modifier];
    const int column = data_.position[head];
    const std::size_t ld = data_.table.ld;
    return data_.tame ? Wide(MatrixView(reverse_.gradient, ld)(row, column))
                      : MatrixView(reverse_.wide_gradient.data(), ld)(row, column);
  }

 private:
  const FactorData& data_;
  const ReverseScratch& reverse_;
};

// The sum of the scaled weights of a word's column over the heads that the walk chooses from.
Wide column_sum(const ScoreTable& table, int word) {
  Wide sum = 0.0;
  for (int h = table.root == RootRule::kSingle ? 1 : 0; h <= table.n; ++h) {
    if (h != word) sum += wide_weight(table, h, word);
  }
  return sum;
}

// Multi-root, V[m] = G[0][m].
Wide multi_root_steps(const FactorData& data, Scratch& scratch) {
  const GradientByWord g(data, scratch);
  Wide total = 0.0;
  for (int m = 1; m <= data.table.n; ++m) total += column_sum(data.table, m) * g(0, m);
  return total;
}

// Single-root, V[m] = sum over roots r of A[0][r] ((Z_r / Z) H[r][m] + (Z_m / Z) H[m][r]). H is the
// gradient given one root, which may be any. With the most probable one, no term is more than n
// times the sum of all, so that no digits are lost.
Wide single_root_steps(const FactorData& data, Scratch& scratch) {
  QueryScratch& own = scratch.get<QueryScratch>();
  const int n = data.table.n;
  Wide* by_position = own.wide_root_rows.resize(3 * data.table.ld);
  Wide* share = by_position + data.table.ld;  // Z_r / Z.
  Wide* root_weight = share + data.table.ld;  // A[0][r].
  root_gradient(wide_factors_of(data, scratch), by_position);
  for (int k = 1; k <= n; ++k) share[data.order[k]] = by_position[k];
  int likeliest = 0;
  double best = -1;
  for (int r = 1; r <= n; ++r) {
    root_weight[r] = wide_weight(data.table, 0, r);
    const double p = (root_weight[r] * share[r]).to_double();
    if (p > best) {
      best = p;
      likeliest = r;
    }
  }
  eliminate_given_root(data, likeliest, own.other, scratch);
  const GradientByWord h(own.other, scratch);
  Wide total = 0.0;
  for (int m = 1; m <= n; ++m) {
    Wide v = 0.0;
    for (int r = 1; r <= n; ++r) {
      // A word may have a ROOT edge although no tree has it as its root.
      if (r == m || data.last[r] == 0) continue;
      v += root_weight[r] * (share[r] * h(r, m) + share[m] * h(m, r));
    }
    total += column_sum(data.table, m) * v;
  }
  return total;
}

}  // namespace
}  // namespace detail

double expected_steps(const Factorization& f, Workspace& workspace) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::require(data.family == TreeFamily::kAll, "expected_steps",
                  "Wilson's walk does not sample projective trees");
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
  detail::FactorData& other = scratch.get<detail::QueryScratch>().other;
  const bool single = f.root_rule() == RootRule::kSingle;
  const auto ld = static_cast<std::ptrdiff_t>(data.table.ld);
  detail::factor_into(other, ScoreView(data.table.row(0), f.n(), ld, 1),
                      single ? RootRule::kMulti : RootRule::kSingle, data.family, scratch);
  if (!other.outcome.ok()) return HUGE_VAL;
  const detail::FactorData& multi = single ? other : data;
  const detail::FactorData& one = single ? data : other;
  // Subtract scale by scale, because the sums of all scales may be too large for a double to hold
  // exactly.
  double exponent = multi.exponent - one.exponent - one.table.root_scale;
  for (int m = 1; m <= f.n(); ++m) exponent += multi.table.scale[m] - one.table.scale[m];
  // The limits keep the exponent in the range of int. Beyond them the result is 0 or infinite
  // anyway.
  return std::ldexp(multi.mantissa / one.mantissa,
                    static_cast<int>(std::clamp(exponent, -5000.0, 5000.0)));
}

double expected_tries(const Factorization& f) {
  Workspace workspace;
  return expected_tries(f, workspace);
}

}  // namespace taproot
