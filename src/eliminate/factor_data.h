// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/buffer.h"
#include "core/interrupt.h"
#include "core/wide.h"
#include "scores/reach.h"
#include "scores/score_table.h"
#include "taproot/factorization.h"

namespace taproot::detail {

/// The factors of one sentence over a scalar T, by position: words stand in the reverse of the
/// order in which they were eliminated, ROOT at 0, the word that was left at 1, the first
/// eliminated at n. So the words still there when k goes are 1..k-1.
template <typename T>
struct Factors {
  int n;
  RootRule root;
  std::size_t ld;
  const T* matrix;
  const T* pivot_data;

  /// A[h][k] as it stood when k was eliminated, h < k. Contiguous in h.
  const T* into(int k) const { return matrix + static_cast<std::size_t>(k) * ld; }
  /// A[k][m] as it stood when k was eliminated, m < k.
  const T& out_of(int k, int m) const { return into(m)[k]; }
  /// The sum of into(k) over the heads there were (single-root: without ROOT); for k = 1, A[0][1].
  const T& pivot(int k) const { return pivot_data[k]; }
};

/// position[n+1 .. n+kPositionPadding-1] are 0: transposing in squares may reach beyond n, and row
/// 0 of a matrix by position is nobody's.
inline constexpr int kPositionPadding = 4;

struct FactorData {
  Outcome outcome{Status::kEmpty};
  ScoreTable table;
  Buffer<std::uint8_t> last;      ///< Words that may come last; see find_last_words().
  Buffer<std::int32_t> order;     ///< order[p] is the node at position p.
  Buffer<std::int32_t> position;  ///< Its inverse.
  bool wide = false;              ///< The factors are those over Wide.
  bool tame = true;               ///< In double, and G is below 2^kSafeBits; see eliminate.cc.
  Buffer<double> matrix;          ///< [n+1][ld], row = modifier; unused when wide.
  Buffer<double> pivot;
  Buffer<Wide> wide_matrix;
  Buffer<Wide> wide_pivot;
  /// The scaled weights [n+2][ld] in sentence order, row = head, where has_weights().
  Buffer<double> weights;
  /// Z of the scaled weights is mantissa * 2^exponent; of the scores, times 2^table.total_scale.
  double mantissa = 1;
  double exponent = 0;
  /// The marginals [n+1][ld], row = head, where keep_marginals() has put them.
  Buffer<double> marginals;
  bool has_marginals = false;

  /// Kept up to this length; beyond, memory is worth more than recomputing them.
  static constexpr int kKeepWeights = 1000;
  bool has_weights() const { return table.n <= kKeepWeights; }

  Factors<double> factors() const {
    return {table.n, table.root, table.ld, matrix.data(), pivot.data()};
  }
  Factors<Wide> wide_factors() const {
    return {table.n, table.root, table.ld, wide_matrix.data(), wide_pivot.data()};
  }
};

struct PathScratch;
struct DecodeScratch;

struct Scratch {
  Interrupt* interrupt = nullptr;  ///< Whom long work asks whether to go on; may be null.
  ReachScratch reach;
  Buffer<double> square;         ///< Weights while factoring, the gradient while querying.
  Buffer<double> probabilities;  ///< Marginals that a query sums over, or values at edges.
  Buffer<double> tangents;       ///< Derivatives of the factors and of the gradient.
  Buffer<double> panel;
  Buffer<std::uint8_t> supported;
  Buffer<double> rows;            ///< A few vectors of length ld.
  Buffer<std::int32_t> integers;  ///< Indices of a sampler at work.
  Buffer<std::int32_t> heads;     ///< The tree it is drawing.
  Buffer<Wide> wide_square;
  Buffer<Wide> wide_matrix;
  Buffer<Wide> wide_rows;
  Buffer<Wide> wide_tangents;
  std::shared_ptr<PathScratch>
      path;  ///< For sampling head by head; see sample/conditionals/path_scratch.h.
  std::shared_ptr<DecodeScratch> decode;  ///< See decode/decode_scratch.h.
  FactorData other;  ///< The same scores under the other rule, or given a root.
};

/// The way from the public classes to their insides.
struct Access {
  static FactorData& data(Factorization& f) { return *f.data_; }
  static const FactorData& data(const Factorization& f) { return *f.data_; }
  static Scratch& scratch(Workspace& w) { return *w.scratch_; }
  template <typename T>
  static auto& impl(T& object) {
    return *object.impl_;
  }
};

/// eliminate() on the insides.
void eliminate_into(FactorData& data, const ScoreView& scores, RootRule root, Scratch& scratch);

}  // namespace taproot::detail
