// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cuda/eliminate/layout.h"

namespace taproot::cuda {

/// What a device allows, and the shapes of thread blocks that follow from that.
struct Limits {
  std::size_t most_shared = 0;  ///< Bytes of dynamic shared memory that a block may have.
  /// Whether a kernel may be launched before the one before it ends (core/dependent.cuh). It is
  /// found as the launch of clusters, which devices have from the same version on.
  bool has_dependent_launch = false;
  int multiprocessors = 0;

  /// Of the current device. They are found once per device.
  static Limits of_current_device();

  /// Word by word.
  Shape shape(int max_n, std::size_t scalar) const;
  /// The same, in groups of words where that is faster.
  Shape inference_shape(int max_n, std::size_t scalar) const;
  /// Whether a block has room for the vectors of a sentence of so many words.
  bool fits(int max_n) const;
};

}  // namespace taproot::cuda
