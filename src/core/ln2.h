// SPDX-License-Identifier: Apache-2.0
//
// ln 2 to more digits than a double has, for the argument reduction of exp and for the logarithm
// of numbers that are stored as mantissa and exponent.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.h"

namespace taproot::detail {

inline constexpr double kLog2e = 0x1.71547652b82fep+0;

// ln 2 = kLn2 + kLn2Low + kLn2Lower. Each is the double nearest to what those before it leave.
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;
inline constexpr double kLn2Lower = 0x1.7b57a079a1934p-111;

// ln 2 = kLn2Short + kLn2Rest. kLn2Short has 33 bits, so k * kLn2Short is exact for |k| < 2^20.
inline constexpr double kLn2Short = 0x1.62e42fefp-1;
inline constexpr double kLn2Rest = 0x1.473de6af278edp-34;
inline constexpr double kShortRange = 0x1p20;

/// x - k ln 2 for an integer k with |k| < 2^53, rounded about once. The first fused step is exact
/// where k ln 2 is near x, because k is an integer and kLn2 is a multiple of 2^-53.
TAPROOT_HOST_DEVICE inline double minus_k_ln2(double x, double k) {
  return std::fma(-k, kLn2Lower, std::fma(-k, kLn2Low, std::fma(-k, kLn2, x)));
}

/// log(mantissa * 2^exponent).
TAPROOT_HOST_DEVICE inline double log_scaled(double mantissa, double exponent) {
  return -minus_k_ln2(-std::log(mantissa), exponent);
}

}  // namespace taproot::detail
