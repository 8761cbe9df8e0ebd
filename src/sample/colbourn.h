// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/random.h"
#include "eliminate/factor_data.h"

namespace taproot::detail {

/// Colbourn's sampler: head by head, each from its marginals given those before. Single-root, the
/// root comes first; given that, or multi-root given ROOT, the rest has one sink s, and its
/// Laplacian L over the other words is an M-matrix. All by sentence index.
///
/// With G the gradient given one root o (multi-root: G itself), K = L^-1 for the sink s has the
/// entries
///     K[i][h] = G[s][i] - G[h][i] + (Z_i / Z_s) G[h][s]       (multi-root: without the last term):
/// one reverse pass serves all roots, and the diagonal, which guards the row form, has no
/// subtraction.
class Colbourn {
 public:
  /// O(n^3).
  void build(const FactorData& data, Scratch& scratch);

  /// Whether the row form is accurate enough for trees with this sink: 64 2^-52 times the expected
  /// visits of a walk to its most visited word, sum_i K[i][i], is at most 1e-10.
  bool row_form_holds(int sink) const;

  /// Draw the heads of all words but the sink: by rows of K, n^3/2 multiply-adds, or contracted,
  /// n^4/12 but without a subtraction, so exact for any weights. `memory` is scratch.
  void draw_rows(int sink, Stream& stream, Scratch& memory, std::int32_t* heads) const;
  void draw_contracted(int sink, Stream& stream, Scratch& memory, std::int32_t* heads) const;

 private:
  double diagonal(int sink, int word) const;

  const FactorData* data_ = nullptr;
  std::size_t ld_ = 0;
  bool has_gradient_ = false;
  Buffer<double> weights_;   // [m][h]; ROOT's only multi-root.
  Buffer<double> gradient_;  // [m][h] = G[h][m]
  Buffer<double> tree_sum_;  // [m] = Z_m / Z, single-root.
};

}  // namespace taproot::detail
