// SPDX-License-Identifier: Apache-2.0
//
// Sums and scans over the 32 lanes of a warp, in one fixed order: answers do not depend on how the
// device schedules.
#pragma once

namespace taproot::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kWarp = 32;

__device__ inline int lane_id() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline int warp_id() { return static_cast<int>(threadIdx.x) / kWarp; }
__device__ inline int warp_count() { return static_cast<int>(blockDim.x) / kWarp; }

template <typename T>
__device__ inline T warp_sum(T x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kAllLanes, x, step);
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
