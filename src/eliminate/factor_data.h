// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/buffer.h"
#include "core/scratch.h"
#include "core/wide.h"
#include "projective/chart.h"
#include "scores/score_table.h"
#include "taproot/factorization.h"

namespace taproot::detail {

/// The factors of one sentence over a scalar T, by position. Positions number the words against the
/// order of elimination: ROOT is 0, the word that was never eliminated is 1, and the word that was
/// eliminated first is n. So the words that remain when k is eliminated are 1..k-1.
template <typename T>
struct Factors {
  int n;
  RootRule root;
  std::size_t ld;
  const T* matrix;
  const T* pivot_data;

  /// into(k)[h] is A[h][k] as it was when k was eliminated, for h < k.
  const T* into(int k) const { return MatrixView(matrix, ld).row(k); }
  /// A[k][m] as it was when k was eliminated, for m < k.
  const T& out_of(int k, int m) const { return into(m)[k]; }
  /// The sum of into(k) over heads 0..k-1; single-root over 1..k-1, except that pivot(1) is
  /// A[0][1].
  const T& pivot(int k) const { return pivot_data[k]; }
};

/// position[n+1 .. n+kPositionPadding-1] are 0, because transposing in squares reaches beyond n,
/// and row 0 of a matrix by position may be overwritten: ROOT is never a modifier.
inline constexpr int kPositionPadding = 4;

/// A sentence that is ready for questions. What elimination leaves is there for the family of all
/// trees only, and the chart for the projective trees only; the rest is the same for both.
struct FactorData {
  Outcome outcome{Status::kEmpty};
  TreeFamily family = TreeFamily::kAll;
  ScoreTable table;
  Chart chart;
  Buffer<std::uint8_t> last;      ///< Words that may be eliminated last; see find_last_words().
  Buffer<std::int32_t> order;     ///< order[p] is the node at position p.
  Buffer<std::int32_t> position;  ///< position[w] is the position of node w.
  bool wide = false;              ///< Whether the factors or the chart are over Wide.
  /// Whether the factors are in double and the gradient of log Z, too, fits into double; see
  /// double_suffices() in eliminate.cc. For a chart, the opposite of `wide`.
  bool tame = true;
  Buffer<double> matrix;  ///< [n+1][ld], row = modifier; unused when wide.
  Buffer<double> pivot;
  Buffer<Wide> wide_matrix;
  Buffer<Wide> wide_pivot;
  /// The scaled weights [n+2][ld] in sentence order, row = head, if has_weights().
  Buffer<double> weights;
  /// Z of the scaled weights is mantissa * 2^exponent. Z of the scores is 2^table.total_scale times
  /// that.
  double mantissa = 1;
  double exponent = 0;
  /// The marginals [n+1][ld], row = head, where keep_marginals() has put them.
  Buffer<double> marginals;
  bool has_marginals = false;

  /// Weights are kept for sentences of up to this length. Longer sentences compute them again when
  /// they are needed, because the memory would cost more than the time.
  static constexpr int kKeepWeights = 1000;
  bool has_weights() const { return table.n <= kKeepWeights; }

  Factors<double> factors() const {
    return {table.n, table.root, table.ld, matrix.data(), pivot.data()};
  }
  Factors<Wide> wide_factors() const {
    return {table.n, table.root, table.ld, wide_matrix.data(), wide_pivot.data()};
  }
};

/// Gives the library access to the private members of the public classes.
struct Access {
  static FactorData& data(Factorization& f) { return *f.data_; }
  static const FactorData& data(const Factorization& f) { return *f.data_; }
  static Scratch& scratch(Workspace& w) { return *w.scratch_; }
  template <typename T>
  static auto& impl(T& object) {
    return *object.impl_;
  }
};

/// factorize() without the public classes around it.
void factor_into(FactorData& data, const ScoreView& scores, RootRule root, TreeFamily family,
                 Scratch& scratch);
/// The same for the family of all trees.
void eliminate_into(FactorData& data, const ScoreView& scores, RootRule root, Scratch& scratch);

}  // namespace taproot::detail
