// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/parallel.h"
#include "eliminate/factor_data.h"
#include "taproot/batch.h"
#include "taproot/sample.h"
#include "taproot/without_replacement.h"

namespace taproot {

namespace detail {

/// What a thread of a pool works with.
struct Slot {
  Factorization factorization;
  Factorization second;  ///< For what compares two.
  Sampler sampler;
  WithoutReplacementSampler distinct;
  Workspace workspace;
};

}  // namespace detail

struct Pool::Impl {
  explicit Impl(int threads)
      : parallel(threads), slots(static_cast<std::size_t>(parallel.threads())) {}

  detail::Parallel parallel;
  std::vector<detail::Slot> slots;
};

}  // namespace taproot
