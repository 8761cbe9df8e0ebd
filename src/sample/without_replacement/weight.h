// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/host_device.h"

namespace taproot::detail {

/// p / q for q = 1 - exp(-x), x = p / exp(kappa), accurate also where both are tiny.
TAPROOT_HOST_DEVICE inline double horvitz_thompson(double log_prob, double kappa) {
  const double x = std::exp(log_prob - kappa);
  // p / q = exp(kappa) x / (1 - exp(-x)), and the quotient tends to 1.
  if (x < 1) return std::exp(kappa) * (x > 0 ? x / -std::expm1(-x) : 1.0);
  return std::exp(log_prob) / -std::expm1(-x);
}

}  // namespace taproot::detail
