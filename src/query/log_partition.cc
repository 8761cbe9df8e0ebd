// SPDX-License-Identifier: Apache-2.0
#include "core/ln2.h"
#include "query/query.h"

namespace taproot {

double log_partition(const Factorization& f) {
  const detail::FactorData& data = detail::require_ok(f);
  return detail::log_scaled(data.mantissa, data.exponent + data.table.total_scale);
}

}  // namespace taproot
