// SPDX-License-Identifier: Apache-2.0
//
// Stochastic beam search on the device: src/sample/without_replacement/beam.h, whole batches, with
// the random numbers and the guard of the host. Two launches a level: a warp makes the children of
// a prefix, lazily, from the largest Gumbel down; a block selects the best of a sentence's
// children.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/sample/conditionals.h"

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
  std::uint64_t seed;
  std::uint32_t first_sentence;
  int width;
  double* gumbel[2];
  double* log_p[2];
  double* visits[2];
  double* amplification[2];
  std::int32_t* sink[2];    ///< Times two, plus one if rows hold.
  std::uint16_t* leads[2];  ///< [..][ld]
  Step* path[2];            ///< [..][max_n+1]: of the words decided.
  double* rows;             ///< [max_n+1][size][width][ld]
  std::int32_t* parent;     ///< Of the prefixes of the level to be expanded,
  std::int32_t* head;       ///< with the head of their last word.
  double* child_gumbel;     ///< [..][max_n+1], largest first
  double* child_log_p;      ///< Of the head, given the prefix.
  std::int32_t* child_head;
  std::int32_t* child_count;
  double* next;             ///< The Gumbel that the next child would have,
  std::int32_t* uncertain;  ///< or a bound on it: rows do not tell.
  std::int32_t* selected;   ///< How many children of a prefix are.
  std::int32_t* states;     ///< [size]: prefixes there are
  double* bar;              ///< [size]: the least Gumbel that may be selected
  std::int32_t* exact;      ///< [size]: laws found by contraction, for the statistics
  std::uint64_t* counter;   ///< Adds those up.
  double* scratch;          ///< [slots][exact_scratch()]
  std::int32_t* locks;      ///< [slots], 0
  int slots;
  double* select_scratch;  ///< [size][kSelectWarps][exact_scratch()]
  std::int32_t* rank;      ///< [..]: the prefix of a rank
  // Results.
  int trees;          ///< Wanted: width - 1.
  std::int32_t* out;  ///< Heads, by word; -1 beyond.
  std::int64_t out_sentence_stride;
  std::int64_t out_tree_stride;
  int out_width;
  double* out_log_prob;     ///< [size][trees]
  double* out_gumbel;       ///< [size][trees]
  double* out_threshold;    ///< [size]
  std::int32_t* out_count;  ///< [size]
};

inline constexpr int kSelectWarps = 32;

/// Doubles that a contraction works in.
inline std::size_t exact_scratch(int max_n) {
  const std::size_t nodes = static_cast<std::size_t>(max_n) + 1;
  return nodes * nodes + 4 * nodes;
}

/// Columns a lane for sentences of max_n words; 0: too long for the device.
int beam_chunk(int max_n);
int beam_blocks(const BeamArgs& args);

void launch_beam(const BeamArgs& args, const Shape& shape, void* stream);

}  // namespace taproot::cuda
