// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.h"
#include "taproot/batch.h"
#include "taproot/cuda.h"

namespace taproot::cli {

/// run(where), where a Pool or, with --device cuda, a Cuda. Without one that is an error: nothing
/// runs on the CPU instead.
template <typename Run>
int on_device(const Options& options, Run&& run) {
  if (options.device == Device::kCuda) {
    Cuda cuda;
    return run(cuda);
  }
  Pool pool(options.threads);
  return run(pool);
}

}  // namespace taproot::cli
