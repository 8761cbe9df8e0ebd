// SPDX-License-Identifier: Apache-2.0
#include "query/query.h"

#include <string>

#include "core/check.h"
#include "core/ln2.h"
#include "scores/weights.h"

namespace taproot::detail {

const FactorData& require_ok(const Factorization& f) {
  const FactorData& data = Access::data(f);
  if (!data.outcome.ok()) throw SentenceError(data.outcome);
  return data;
}

void require_same_root(RootRule p, RootRule q, const char* function) {
  if (p == q) return;
  misuse(function, "p is " + std::string(to_string(p)) + "-root and q is " +
                       std::string(to_string(q)) + "-root");
}

double scaled_log_partition(const FactorData& data) {
  return log_scaled(data.mantissa, data.exponent);
}

const double* weights_of(const FactorData& data, int head, double* memory) {
  if (data.has_weights()) return MatrixView(data.weights.data(), data.table.ld).row(head);
  fill_weights(data.table, head, head + 1, memory);
  return memory;
}

}  // namespace taproot::detail
