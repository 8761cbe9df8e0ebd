// SPDX-License-Identifier: Apache-2.0
//
// Sampling without replacement by skipping repeats, as "auto" does on the host: trees are sampled
// with replacement, and those that came before are left out. A sentence for which the host would
// hand over to the trie, or that needs more trees than were sampled, is left to the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/core/arena.h"
#include "cuda/eliminate/factors.h"

namespace taproot::cuda {

/// How many trees to sample, with replacement, in the hope of k different ones. A sentence that has
/// fewer among them is left to the CPU.
inline std::size_t attempts_for(std::size_t k) { return k + k / 8 + 64; }

struct SkipArgs {
  Batch batch;
  std::uint64_t seed = 0;
  int trees = 0;                     ///< k
  int attempts = 0;                  ///< attempts_for(k)
  CudaOutcome* outcomes = nullptr;   ///< Of the trees with replacement; then of those without.
  CudaTreeBuffer sampled;            ///< [size][attempts]
  const double* log_prob = nullptr;  ///< [size][attempts]
  std::int32_t* table = nullptr;     ///< [size][table_size]: the first of each tree, by its hash.
  int table_size = 0;                ///< A power of two.
  std::int32_t* places = nullptr;    ///< [size][attempts]: where a tree is in the table.
  std::int32_t* chosen = nullptr;    ///< [size][trees]: which trees are the different ones.
  CudaWithoutReplacement out;
};

/// Takes the workspace: all that `args` does not have yet, but not the trees.
void take_skip_memory(Arena& arena, SkipArgs& args);

void launch_skip(const SkipArgs& args, void* stream);

}  // namespace taproot::cuda
