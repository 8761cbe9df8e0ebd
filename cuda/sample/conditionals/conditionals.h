// SPDX-License-Identifier: Apache-2.0
//
// The laws for deciding trees head by head, on the device: see
// src/sample/conditionals/conditionals.h. A node is the number of a word in the order in which
// words are decided; ROOT is node 0.
#pragma once

#include <cstdint>

#include "cuda/eliminate/layout.h"
#include "cuda/scores/batch.h"

namespace taproot::cuda {

/// [size] of each; vectors have ld entries, matrices max_n + 1 rows of ld.
struct ConditionalsArgs {
  Batch batch;
  int ld;
  CudaOutcome* outcomes;
  double* scaled;  ///< [size][(max_n+1)^2]: scaled weights by word, row = head.
  void* matrices;  ///< For sentences that shared memory cannot hold.
  std::int64_t matrix_stride;
  double* weights;        ///< [m][h], by node; ROOT's only multi-root
  double* by_head;        ///< The same with a row for each head.
  float* narrow_by_head;  ///< Likewise in float32; may be null
  double* gradient;       ///< [m][h] = G[h][m], given one root; null if there are to be no rows.
  double* sums;           ///< Of weights, [m].
  double* tree_sum;       ///< Z_m / Z, single-root.
  double* top;            ///< max_h G[h][m]
  double* visits;         ///< By sink; +inf without rows.
  double* roots;          ///< Their law, single-root.
  std::int32_t* word;     ///< Of a node.
  double* scale;          ///< Of columns, by word.
  double* facts;  ///< [size][4]: root scale, mantissa and exponent of Z, fits double (0 or 1)
};

inline constexpr int kFacts = 4;

void launch_conditionals(const ConditionalsArgs& args, const Shape& shape, void* stream);

}  // namespace taproot::cuda
