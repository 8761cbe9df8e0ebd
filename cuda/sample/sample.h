// SPDX-License-Identifier: Apache-2.0
//
// Trees with replacement on the device, after an elimination: Wilson's walk with the budget of
// "auto" on the alias tables of src/sample/walk/alias.h, one thread per tree, and un-elimination
// (src/sample/un_elimination/un_eliminate-inl.h) where a walk is given up. The random numbers are
// those of the host.
#pragma once

#include <cstdint>

#include "cuda/eliminate/factors.h"
#include "cuda/eliminate/limits.h"

namespace taproot::cuda {

struct SampleArgs {
  Batch batch;
  Summary summary;
  Factors factors;
  std::uint64_t seed = 0;
  std::uint32_t first_tree = 0;
  int trees = 0;                        ///< Per sentence.
  std::uint64_t* slots = nullptr;       ///< [size][max_n+1][(max_n+1) * alias_words]
  std::uint64_t* root_slots = nullptr;  ///< [size][max_n * alias_words]
  double* shares = nullptr;             ///< [size][(max_n+1)^2]; filled where a walk was given up.
  double* direct = nullptr;             ///< Likewise.
  std::int32_t* given_up = nullptr;     ///< [size]: how many walks were given up.
  std::int32_t* list_size = nullptr;    ///< The same over all sentences, one number.
  std::int64_t* list = nullptr;         ///< [size * trees]: the trees of those walks,
  std::int32_t* list_root = nullptr;    ///< and their roots.
  std::uint64_t* counter = nullptr;     ///< The statistics of walks that were given up.
  double* scratch = nullptr;            ///< For what shared memory does not hold.
  CudaTreeBuffer out;
};

/// Takes the workspace of launch_sample(): all that `args` does not have yet.
void take_sample_memory(Arena& arena, const Limits& limits, SampleArgs& args);

void launch_sample(const SampleArgs& args, const Limits& limits, void* stream);

}  // namespace taproot::cuda
