// SPDX-License-Identifier: Apache-2.0
#include "query/query.h"
#include "scores/ln2.h"

namespace taproot {

double log_partition(const Factorization& f) {
  const detail::FactorData& data = detail::require_ok(f, "log_partition");
  return detail::log_scaled(data.mantissa, data.exponent + data.table.total_scale);
}

}  // namespace taproot
