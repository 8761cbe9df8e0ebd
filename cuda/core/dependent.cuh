// SPDX-License-Identifier: Apache-2.0
//
// Kernels of one stream that follow each other closely: the next may be brought onto the device
// while the one before still runs, and waits there (programmatic dependent launch, sm_90).
#pragma once

namespace taproot::cuda {

/// Waits until the kernel before is done and its memory can be seen. First thing in a kernel that
/// launch_dependent() launches.
__device__ inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ inline void let_next_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace taproot::cuda
