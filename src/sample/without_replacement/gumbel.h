// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/host_device.h"

namespace taproot::detail {

/// A Gumbel variable G at `location`, given that it is below `bound`, from an exponential variable
/// E of mean 1: exp(location - G) = exp(location - bound) + E. With bound = +inf it is not
/// truncated.
TAPROOT_HOST_DEVICE inline double truncated_gumbel(double location, double bound,
                                                   double exponential) {
  const double above = bound - location;
  if (above > 0) return location - std::log(exponential + std::exp(-above));
  return bound - std::log1p(exponential * std::exp(above));
}

}  // namespace taproot::detail
