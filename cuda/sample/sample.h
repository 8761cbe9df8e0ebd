// SPDX-License-Identifier: Apache-2.0
//
// Trees with replacement on the device, after an elimination: cycles are popped on the budget of
// "auto" (src/sample/walk/), and un-elimination (src/sample/un_elimination/un_eliminate-inl.h)
// samples the trees that are given up. The random numbers are those of the host.
#pragma once

#include <cstdint>

#include "cuda/eliminate/factors.h"
#include "cuda/eliminate/limits.h"
#include "sample/walk/alias.h"

namespace taproot::cuda {

struct SampleArgs {
  Batch batch;
  Summary summary;
  Factors factors;
  std::uint64_t seed = 0;
  std::uint32_t first_tree = 0;
  int trees = 0;                      ///< Per sentence.
  std::uint32_t* planes = nullptr;    ///< [size][alias_planes][(max_n+1)^2]
  double* shares = nullptr;           ///< [size][(max_n+1)^2]; filled where a tree was given up.
  double* direct = nullptr;           ///< Likewise.
  std::int32_t* given_up = nullptr;   ///< [size]: how many trees were given up.
  std::int32_t* list_size = nullptr;  ///< The same over all sentences, one number.
  std::int64_t* list = nullptr;       ///< [size * trees]: those trees,
  std::int32_t* list_root = nullptr;  ///< and their roots.
  std::uint64_t* counter = nullptr;   ///< The statistics of trees that were given up.
  double* scratch = nullptr;          ///< For what shared memory does not hold.
  CudaHeadBuffer out;

  /// The alias tables of a sentence: table m begins at entry m * (n + 1) of each plane of (n + 1)^2
  /// words. It has the heads of word m; table 0 has the roots.
  TAPROOT_HOST_DEVICE std::uint32_t* planes_of(int b) const {
    return planes + b * batch.nodes() * batch.nodes() * detail::alias_planes(batch.max_n + 1);
  }
};

/// Takes the workspace of launch_sample(): all that `args` does not have yet.
void take_sample_memory(Arena& arena, const Limits& limits, SampleArgs& args);

void launch_sample(const SampleArgs& args, const Limits& limits, void* stream);

}  // namespace taproot::cuda
