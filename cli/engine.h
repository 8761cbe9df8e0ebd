// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "options.h"
#include "taproot/batch.h"
#include "taproot/cuda.h"

namespace taproot::cli {

/// Where a command computes: on the CPU, or with --device cuda on the GPU. The constructor throws
/// if there is no GPU, because a command must never run on the CPU instead without saying so.
class Engine {
 public:
  explicit Engine(const Options& options) : pool_(options.threads) {
    if (options.device == Device::kCuda) cuda_.emplace();
  }

  /// The threads of the CPU, which are there with a GPU too.
  Pool& pool() { return pool_; }
  bool has_cuda() const { return cuda_.has_value(); }
  Cuda& cuda() { return *cuda_; }

  /// run(cuda) if the GPU is asked for, and run(pool) if not.
  template <typename Run>
  decltype(auto) on_device(Run&& run) {
    return cuda_ ? run(*cuda_) : run(pool_);
  }

 private:
  Pool pool_;
  std::optional<Cuda> cuda_;
};

}  // namespace taproot::cli
