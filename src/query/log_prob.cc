// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "core/exact_sum.h"
#include "core/ln2.h"
#include "query/query.h"
#include "taproot/tree.h"

namespace taproot {
namespace detail {
namespace {

// Subtracts x * y without rounding, unless it underflows.
void subtract_product(ExactSum& sum, double x, double y) {
  const double product = x * y;
  sum.add(-product);
  sum.add(-std::fma(x, y, -product));
}

// Subtracts k ln 2, with ln 2 to 160 bits.
void subtract_k_ln2(ExactSum& sum, double k) {
  subtract_product(sum, k, kLn2);
  subtract_product(sum, k, kLn2Low);
  sum.add(-k * kLn2Lower);
}

// Where log Z and the tree's scores are large and nearly equal, their difference is rounded once.
double exact_tree_log_prob(const FactorData& data, const std::int32_t* heads) {
  const ScoreTable& table = data.table;
  ExactSum sum;
  ExactSum scale;
  scale.add(data.exponent);
  for (int m = 1; m <= table.n; ++m) {
    const int head = heads[m - 1];
    const double score = table.row(head)[m];
    if (score == -HUGE_VAL) return score;
    sum.add(score);
    scale.add(table.scale[(head == 0 ? table.ld : 0) + static_cast<std::size_t>(m)]);
  }
  const double k = scale.value();
  subtract_k_ln2(sum, k);
  scale.add(-k);  // Beyond 2^53 there is a rest.
  subtract_k_ln2(sum, scale.value());
  sum.add(-std::log(data.mantissa));
  return sum.value();
}

}  // namespace

double tree_log_prob(const FactorData& data, const std::int32_t* heads) {
  if (!data.tame) return nearest_log_probability(exact_tree_log_prob(data, heads));
  double sum = 0;
  for (int m = 1; m <= data.table.n; ++m) sum += scaled_score(data.table, heads[m - 1], m);
  return nearest_log_probability(sum - scaled_log_partition(data));
}

}  // namespace detail

double log_prob(const Factorization& f, TreeView heads) {
  const detail::FactorData& data = detail::require_ok(f);
  detail::require(heads.size() == static_cast<std::size_t>(f.n()), "log_prob",
                  "heads must have n entries");
  for (const std::int32_t head : heads) {
    detail::require(head >= 0 && head <= f.n(), "log_prob", "a head is outside 0..n");
  }
  if (!is_tree(heads, f.root_rule())) return -HUGE_VAL;
  return detail::tree_log_prob(data, heads.data());
}

}  // namespace taproot
