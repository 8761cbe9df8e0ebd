// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace taproot::cuda {

/// Kernels launched by this process, as a proof that the device ran.
inline std::atomic<std::uint64_t>& launch_counter() {
  static std::atomic<std::uint64_t> counter{0};
  return counter;
}

}  // namespace taproot::cuda
