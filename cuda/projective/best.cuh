// SPDX-License-Identifier: Apache-2.0
//
// What charts of best trees are over.
#pragma once

#include <cmath>

#include "cuda/decode/fixed.cuh"

namespace taproot::cuda::projective {

/// (max, +) in double. -inf means that there is no tree.
struct BestInDouble {
  static __device__ double zero() { return -HUGE_VAL; }
  static __device__ double one() { return 0.0; }
  static __device__ double plus(double a, double b) { return fmax(a, b); }
  static __device__ double times(double a, double b) { return a + b; }
  static __device__ double accumulate(double a, double b, double c) { return fmax(a + b, c); }
};

/// The same without rounding, and with ties broken as on the host.
template <int kLimbs>
struct BestWithoutRounding {
  using Cost = Fixed<kLimbs>;
  static constexpr std::uint64_t kNone = std::uint64_t{1} << 63;

  static __device__ bool is_none(const Cost& a) { return a.limb[kLimbs - 1] == kNone; }
  static __device__ Cost zero() {
    Cost none = one();
    none.limb[kLimbs - 1] = kNone;
    return none;
  }
  static __device__ Cost one() {
    Cost nothing;
    for (int i = 0; i < kLimbs; ++i) nothing.limb[i] = 0;
    return nothing;
  }
  static __device__ Cost plus(const Cost& a, const Cost& b) { return a < b ? b : a; }
  static __device__ Cost times(const Cost& a, const Cost& b) {
    if (is_none(a) || is_none(b)) return zero();
    Cost sum = a;
    return sum += b;
  }
  static __device__ Cost accumulate(const Cost& a, const Cost& b, const Cost& c) {
    return plus(times(a, b), c);
  }
};

}  // namespace taproot::cuda::projective
