// SPDX-License-Identifier: Apache-2.0
//
// Stochastic beam search on the device: src/sample/without_replacement/beam.h for whole batches,
// with the random numbers and the error bounds of the host. A level takes two launches: in the
// first a warp makes the children of a prefix, lazily, from the largest Gumbel down; in the second
// a block selects the best of a sentence's children.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/random.h"
#include "cuda/core/arena.h"
#include "cuda/sample/conditionals/conditionals.h"

namespace taproot::cuda {

/// What a decided word did to later rows: its own row is that of prefix `row` at its level.
struct Step {
  double inverse_p;  ///< 0: the sink, which has no row.
  std::int32_t row;
  std::int32_t head;
};

/// Arrays of [size][width] prefixes unless said otherwise; [2]: levels alternate.
struct BeamArgs {
  ConditionalsArgs c;
  bool narrow;  ///< Laws by contraction in float32, without rows: beam_can_be_narrow().
  std::uint64_t seed;
  detail::StreamKey* keys;  ///< [size]: of the sentences' random numbers.
  int width;
  double* gumbel[2];
  double* log_p[2];
  double* visits[2];
  double* amplification[2];
  std::int32_t* sink[2];     ///< Twice the sink, plus one if rows are accurate enough.
  std::int32_t* anchor[2];   ///< The ancestor at the first level of the block.
  std::uint16_t* leads[2];   ///< [..][ld]
  Step* path[2];             ///< [..][max_n+1]: of the words before the block; blocks alternate
  Step* steps[2];            ///< [..][words of a block]: of those in it
  double* rows;              ///< [max_n+1][size][width][ld]; null: narrow
  double* partial;           ///< [..][words of a block][ld]: see expand.cuh; null: narrow
  std::int32_t* parent;      ///< Of the prefixes of the level to be expanded,
  std::int32_t* head;        ///< with the head of their last word.
  std::int32_t* child_head;  ///< [..][max_n+1], the largest Gumbel first
  std::int32_t* child_count;
  double* last;   ///< Of the last child: see Growth::y.
  double* bound;  ///< No next child is above, where rows do not tell; else -inf.
  // Children of all prefixes of a sentence, [size][width * (max_n+1)]: the first of each prefix,
  // then the others in any order.
  double* list_gumbel;
  double* list_log_p;  ///< Of the head, given the prefix.
  std::int32_t* list_state;
  std::int32_t* list_head;
  std::int32_t* list_size;  ///< [size]: of the others
  std::int32_t* selected;   ///< How many children of a prefix are.
  std::int32_t* states;     ///< [size]: prefixes there are
  double* bar;              ///< [size]: the least Gumbel that may be selected
  std::int32_t* exact;      ///< [size]: laws found by contraction, for the statistics
  std::uint64_t* counter;   ///< Adds those up.
  double* scratch;          ///< [slots][exact_scratch()]
  std::int32_t* locks;      ///< [slots], 0
  int slots;
  double* select_scratch;  ///< [size][kSelectWarps][exact_scratch()]
  int trees;               ///< Per sentence: width - 1.
  CudaWithoutReplacement out;
};

/// How many words' rows are reduced in one pass over a prefix's ancestors, with `chunk` columns per
/// lane.
constexpr int block_words(int chunk) {
  return chunk <= 4 ? 8 : chunk <= 8 ? 4 : chunk <= 16 ? 2 : 1;
}
/// The first word of the block that `level` is in, and which of the two paths is that block's.
template <int kWords>
TAPROOT_HOST_DEVICE constexpr int block_start(int level) {
  return (level - 1) / kWords * kWords + 1;
}
template <int kWords>
TAPROOT_HOST_DEVICE constexpr int block_parity(int level) {
  return (level - 1) / kWords & 1;
}

inline constexpr int kSelectWarps = 16;
/// Children of a level that selection has in shared memory.
inline constexpr int kMostSharedChildren = 12288;

/// Doubles that any contraction of a sentence may take; even, so that all begin at 16 bytes.
TAPROOT_HOST_DEVICE inline std::int64_t exact_scratch(int max_n) {
  const std::int64_t nodes = max_n + 1;
  return (4 * nodes + nodes * (nodes | 1) + 1) / 2 * 2;
}

/// Columns per lane for sentences of max_n words; 0 if that is too long for the device.
int beam_chunk(int max_n);
/// Whether contraction in float32 has the room it needs.
bool beam_can_be_narrow(int max_n, std::size_t most_shared);
int beam_blocks(const BeamArgs& args);

/// The arguments of a beam with their workspace; outputs, seed and what is for long sentences are
/// the caller's to fill in.
BeamArgs take_beam(Arena& arena, const Batch& batch, int trees, bool narrow);
/// The outputs from sentence `begin` on.
CudaWithoutReplacement slice(const CudaWithoutReplacement& out, std::size_t begin,
                             std::size_t trees);

/// `early`: the device has programmatic dependent launch.
void launch_beam(const BeamArgs& args, const Shape& shape, bool early, void* stream);

}  // namespace taproot::cuda
