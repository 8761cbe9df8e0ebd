// SPDX-License-Identifier: Apache-2.0
//
// For kernels of one stream that follow each other closely: the next one may start while the
// previous one still runs, and then waits for it (programmatic dependent launch, sm_90).
#pragma once

namespace taproot::cuda {

/// Waits until the previous kernel is done and what it wrote can be seen. A kernel that
/// launch_dependent() launches must call it before it reads any such memory.
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
