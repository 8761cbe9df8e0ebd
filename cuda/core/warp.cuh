// SPDX-License-Identifier: Apache-2.0
//
// Sums and scans over the 32 lanes of a warp, in one fixed order: answers do not depend on how the
// device schedules.
#pragma once

#include <cstddef>

#include "core/wide.h"

namespace taproot::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kWarp = 32;

__device__ inline int lane_id() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline int warp_id() { return static_cast<int>(threadIdx.x) / kWarp; }
/// The dynamic shared memory of this launch.
__device__ inline std::size_t dynamic_shared_bytes() {
  unsigned bytes = 0;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

__device__ inline int warp_count() { return static_cast<int>(blockDim.x) / kWarp; }

/// The x of the lane whose number differs in the bits of `step`.
template <typename T>
__device__ inline T shuffle_xor(T x, int step) {
  return __shfl_xor_sync(kAllLanes, x, step);
}
__device__ inline detail::Wide shuffle_xor(detail::Wide x, int step) {
  const double mantissa = __shfl_xor_sync(kAllLanes, x.mantissa(), step);
  const auto exponent = static_cast<long long>(x.exponent());
  return {mantissa, static_cast<std::int64_t>(__shfl_xor_sync(kAllLanes, exponent, step))};
}

/// a b + c, rounded once in float and double.
template <typename T>
__device__ inline T multiply_add(T a, T b, T c) {
  return fma(a, b, c);
}
__device__ inline detail::Wide multiply_add(detail::Wide a, detail::Wide b, detail::Wide c) {
  return a * b + c;
}

template <typename T>
__device__ inline T warp_sum(T x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += shuffle_xor(x, step);
  return x;
}

template <typename T>
__device__ inline T warp_max(T x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const T other = __shfl_xor_sync(kAllLanes, x, step);
    x = other > x ? other : x;
  }
  return x;
}

/// warp_max() of numbers that are not NaN by two instructions that compare 32 bits over all lanes.
__device__ inline double quick_warp_max(double x) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(x));
  constexpr unsigned long long kSign = 1ull << 63;
  const unsigned long long key = (bits & kSign) != 0 ? ~bits : bits | kSign;  // In order.
  const auto high = static_cast<unsigned>(key >> 32);
  const unsigned top = __reduce_max_sync(kAllLanes, high);
  const unsigned low = __reduce_max_sync(kAllLanes, high == top ? static_cast<unsigned>(key) : 0u);
  const unsigned long long best = static_cast<unsigned long long>(top) << 32 | low;
  return __longlong_as_double(static_cast<long long>((best & kSign) != 0 ? best & ~kSign : ~best));
}

/// The sum over this lane and those before it.
template <typename T>
__device__ inline T warp_scan(T x) {
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const T other = __shfl_up_sync(kAllLanes, x, step);
    if (lane_id() >= step) x += other;
  }
  return x;
}

}  // namespace taproot::cuda
