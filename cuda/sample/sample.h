// SPDX-License-Identifier: Apache-2.0
//
// Trees with replacement on the device: Wilson's walk with auto's budget from the alias tables of
// src/sample/walk/alias.h, one thread a tree, finishing by un-elimination
// (src/sample/un_elimination/un_eliminate-inl.h). The draws are those of the host.
#pragma once

#include <cstdint>

#include "cuda/scores/batch.h"

namespace taproot::cuda {

struct SampleArgs {
  Batch batch;
  const DeviceOutcome* outcomes;
  std::uint64_t seed;
  std::uint32_t first_sentence;
  std::uint32_t first_tree;
  int trees;              ///< A sentence.
  const double* weights;  ///< As InferenceArgs has them.
  const double* factors;
  const double* pivots;
  const std::int32_t* order;
  const double* root_law;
  std::uint64_t* slots;       ///< [size][max_n+1][(max_n+1) * alias_words]
  std::uint64_t* root_slots;  ///< [size][max_n * alias_words]
  double* shares;             ///< [size][(max_n+1)^2]; filled where a walk was given up.
  double* direct;             ///< Likewise.
  std::int32_t* given_up;     ///< [size]: walks given up
  std::int32_t* list_size;    ///< One number: of all sentences.
  std::int64_t* list;         ///< [size * trees]: their trees
  std::int32_t* list_root;    ///< Their roots.
  std::uint64_t* counter;     ///< Adds up the walks given up.
  double* scratch;            ///< For threads whose tables shared memory cannot hold; or null.
  std::int32_t* out;  ///< Heads, by word; -1 beyond a sentence's length and where it has none.
  std::int64_t out_sentence_stride;
  std::int64_t out_tree_stride;
  int out_width;  ///< Entries a tree.
};

/// Bytes of scratch that launch_sample() needs beyond shared memory.
std::size_t sample_scratch_doubles(const SampleArgs& args);

void launch_sample(const SampleArgs& args, void* stream);

}  // namespace taproot::cuda
