// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/host_device.h"

namespace taproot::detail {

/// The coefficients of q in exp(r) = 1 + r + r^2 q(r) on [-ln2/2, ln2/2], highest power first. q
/// has degree 9 and interpolates at Chebyshev points; its relative error is 1.6e-17 before
/// rounding.
struct ExpCoefficients {
  double c[10] = {0x1.af38a9b0ec855p-26, 0x1.289185613a3d6p-22, 0x1.71de0dae63bb3p-19,
                  0x1.a019b90d2ae7ap-16, 0x1.a01a01a7c41d5p-13, 0x1.6c16c1788bd90p-10,
                  0x1.11111111109b3p-7,  0x1.5555555553d63p-5,  0x1.5555555555556p-3,
                  0x1.0000000000001p-1};
};

/// exp(r) for |r| <= ln2/2. It does the same operations as the vector code in scores/weights-inl.h,
/// so that host and device give the same bits.
TAPROOT_HOST_DEVICE inline double exp_reduced(double r) {
  constexpr ExpCoefficients k;
  double q = k.c[0];
#if defined(__CUDACC__)
#pragma unroll
#endif
  for (int i = 1; i < 10; ++i) q = std::fma(q, r, k.c[i]);
  return 1.0 + std::fma(q, r * r, r);
}

}  // namespace taproot::detail
