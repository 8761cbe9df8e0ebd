// SPDX-License-Identifier: Apache-2.0
//
// Builds without CUDA: every question of scores on a device is refused, and nothing is copied to
// the CPU without having been asked for.
#include <vector>

#include "refusal.h"

namespace taproot::python::jax {
namespace {

std::vector<Handler> refuse(std::span<const Handler> handlers) {
  std::vector<Handler> refusals;
  for (const Handler& handler : handlers) {
    refusals.push_back(refused(handler.name, &refuse_all));
  }
  return refusals;
}

}  // namespace

std::span<const Handler> cuda_numbers() {
  static const std::vector<Handler> handlers = refuse(cpu_numbers());
  return handlers;
}

std::span<const Handler> cuda_trees() {
  static const std::vector<Handler> handlers = refuse(cpu_trees());
  return handlers;
}

}  // namespace taproot::python::jax
