// SPDX-License-Identifier: Apache-2.0
//
// Builds without CUDA: every question of scores on a device is refused, and nothing is copied to
// the CPU without having been asked for.
#include <vector>

#include "refusal.h"
#include "taproot/cuda.h"

namespace taproot::python::jax {
namespace {

xla::ffi::Error no_cuda() {
  return unimplemented("the scores are on a CUDA device, and taproot cannot work there: " +
                       cuda_description());
}

std::vector<Handler> refuse_all(std::span<const Handler> handlers) {
  std::vector<Handler> refusals;
  for (const Handler& handler : handlers) {
    refusals.push_back(refused<&no_cuda>(handler.name));
  }
  return refusals;
}

}  // namespace

std::span<const Handler> cuda_numbers() {
  static const std::vector<Handler> handlers = refuse_all(cpu_numbers());
  return handlers;
}

std::span<const Handler> cuda_trees() {
  static const std::vector<Handler> handlers = refuse_all(cpu_trees());
  return handlers;
}

}  // namespace taproot::python::jax
