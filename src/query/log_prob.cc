// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/check.h"
#include "query/query.h"
#include "taproot/tree.h"

namespace taproot {

double log_prob(const Factorization& f, TreeView heads) {
  const detail::FactorData& data = detail::require_ok(f, "log_prob");
  detail::require(heads.size() == static_cast<std::size_t>(f.n()), "log_prob",
                  "heads must have n entries");
  for (const std::int32_t head : heads) {
    detail::require(head >= 0 && head <= f.n(), "log_prob", "a head is outside 0..n");
  }
  if (!is_tree(heads, f.root_rule())) return -HUGE_VAL;
  double sum = 0;
  for (int m = 1; m <= f.n(); ++m) {
    sum += detail::scaled_score(data.table, heads[static_cast<std::size_t>(m) - 1], m);
  }
  return sum - detail::scaled_log_partition(data);
}

}  // namespace taproot
