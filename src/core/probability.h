// SPDX-License-Identifier: Apache-2.0
//
// Rounding may leave an answer slightly outside the values that it can have. Queries then return
// the nearest value that it can have (docs/numerics.md). NaN stays NaN.
#pragma once

#include "core/host_device.h"

namespace taproot::detail {

/// For entropies, divergences and whatever else has no values below 0.
TAPROOT_HOST_DEVICE inline double non_negative(double x) { return x < 0 ? 0.0 : x; }

TAPROOT_HOST_DEVICE inline double nearest_probability(double x) {
  return x < 0 ? 0.0 : x > 1 ? 1.0 : x;
}

TAPROOT_HOST_DEVICE inline double nearest_log_probability(double x) { return x > 0 ? 0.0 : x; }

}  // namespace taproot::detail
