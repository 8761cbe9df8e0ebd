// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "query/query.h"
#include "taproot/tree.h"

namespace taproot {

double detail::tree_log_prob(const FactorData& data, const std::int32_t* heads) {
  double sum = 0;
  for (int m = 1; m <= data.table.n; ++m) sum += scaled_score(data.table, heads[m - 1], m);
  return sum - scaled_log_partition(data);
}

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
