// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "core/ln2.h"
#include "query/exact_log_prob.h"
#include "query/query.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "query/log_prob.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// The includes below follow foreach_target.h, because they are compiled once per target.
#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// The sum of scaled_score() over a tree's edges. It is compiled per target for the fused
// multiply-add, which is a call of the C library elsewhere. Four sums do not wait for each other.
double tree_score(const ScoreTable& table, const std::int32_t* heads) {
  const auto score = [&](int m) {
    const int head = heads[m - 1];
    const double s = table.row(head)[m];
    return s == -HUGE_VAL ? s : minus_k_ln2(s, table.scale_of(head, m));
  };
  double sums[4] = {};
  int m = 1;
  for (; m + 3 <= table.n; m += 4) {
    for (int i = 0; i < 4; ++i) sums[i] += score(m + i);
  }
  for (; m <= table.n; ++m) sums[0] += score(m);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot {
namespace detail {

HWY_EXPORT(tree_score);

namespace {

double exact_tree_log_prob(const FactorData& data, const std::int32_t* heads) {
  const ScoreTable& table = data.table;
  ExactLogProb sum(data.exponent);
  for (int m = 1; m <= table.n; ++m) {
    const int head = heads[m - 1];
    const double score = table.row(head)[m];
    if (score == -HUGE_VAL) return score;
    sum.add_score(score);
    sum.add_scale(table.scale[(head == 0 ? table.ld : 0) + static_cast<std::size_t>(m)]);
  }
  return sum.value(data.mantissa);
}

}  // namespace

double tree_log_prob(const FactorData& data, const std::int32_t* heads) {
  if (!data.tame) return nearest_log_probability(exact_tree_log_prob(data, heads));
  const double score = HWY_DYNAMIC_DISPATCH(tree_score)(data.table, heads);
  return nearest_log_probability(score - scaled_log_partition(data));
}

}  // namespace detail

double log_prob(const Factorization& f, TreeView heads) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::require(heads.size() == static_cast<std::size_t>(f.n()), "log_prob",
                  "heads must have n entries");
  for (const std::int32_t head : heads) {
    detail::require(head >= 0 && head <= f.n(), "log_prob", "a head is outside 0..n");
  }
  if (!detail::queries_of(data.family).contains(heads, f.root_rule())) return -HUGE_VAL;
  return detail::tree_log_prob(data, heads.data());
}

}  // namespace taproot
#endif  // HWY_ONCE
