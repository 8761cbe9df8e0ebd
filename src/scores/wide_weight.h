// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.h"
#include "core/ln2.h"
#include "core/wide.h"

namespace taproot::detail {

/// exp(score) 2^-scale over Wide, which has the range to hold every weight. 0 if the score is -inf.
TAPROOT_HOST_DEVICE inline Wide wide_weight(double score, double scale) {
  if (score == -HUGE_VAL) return 0.0;
  const double k = std::nearbyint(score * kLog2e);
  return {std::exp(minus_k_ln2(score, k)), static_cast<std::int64_t>(k - scale)};
}

}  // namespace taproot::detail
