// SPDX-License-Identifier: Apache-2.0
//
// Sampling a tree head by head: the conditional law of one word's head given the heads decided
// before it. This is the entry to the folder, and these are its files:
//   conditionals.h         the tables of a sentence, shared by all trees sampled from it
//   row_path.h             the law from rows of the inverse Laplacian: fast, with an absolute error
//   rows.h                 the vector arithmetic of these rows, which the beam uses as well
//   contraction.h          the law from a contracted graph: slower, and exact for any weights
//   choose.h, -inl.h       the choice of an index by weight
//   path_scratch.h         the memory for deciding one tree by either law
//   weights_by_modifier.h  the weights of each word's heads, as rows
//   colbourn.h             a sampler made of the above; ../without_replacement/ has the others
// docs/math.md ("Heads one by one") has the mathematics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "eliminate/factor_data.h"

namespace taproot::detail {

/// The tables of a sentence for deciding a tree head by head. Single-root, the root is decided
/// first. Then the root (multi-root: ROOT) is the sink s to which all other words lead, and the
/// Laplacian L over these words is invertible, with inverse K.
///
/// Words are numbered in the order in which they are decided, and these numbers are called nodes.
/// The most certain words come first, so that many trees share long prefixes. ROOT is node 0.
class Conditionals {
 public:
  /// Builds the tables in O(n^3). `data` must outlive this object.
  void build(const FactorData& data, Scratch& scratch);

  int n() const { return data_->table.n; }
  std::size_t ld() const { return data_->table.ld; }
  bool single() const { return data_->table.root == RootRule::kSingle; }
  int word(int node) const { return order_[node]; }
  int node(int word) const { return node_[word]; }

  /// Converts heads of words, [n], to heads of nodes, [n+1], and back. The head of a root is 0.
  void to_nodes(const std::int32_t* heads, std::int32_t* node_heads) const;
  void to_words(const std::int32_t* node_heads, std::int32_t* heads) const;

  /// Whether double does not have the range for this sentence. Then all tables are over Wide, and
  /// there are no rows of K.
  bool is_wide() const { return !data_->tame; }

  /// Whether the probabilities of all trees and prefixes are within double's range. Then a
  /// probability that is 0 in double belongs to something impossible.
  bool fits_double() const { return fits_double_; }

  /// The weights of the heads of node i, [ld]. T is double or Wide. Single-root, ROOT's is 0.
  template <typename T>
  const T* weights(int i) const;

  /// The probabilities of the roots, [ld], for single-root sentences. T is double or Wide.
  template <typename T>
  const T* roots() const;

  /// Fills the tables over Wide, unless that has been done.
  void widen(Scratch& scratch);

  /// The largest over i of row_scale(sink, i) * total_weight(i), which is about the expected number
  /// of visits of a random walk to its most visited word. It bounds the error of rows; see
  /// row_error(). Found without subtraction. +inf if there are no rows for this sink.
  double visits(int sink) const { return visits_[sink]; }

  /// The largest of the terms from which start_row() computes row i, to which the errors of the row
  /// are relative. At least K[i][i] / 2, and much larger if the sink is an unlikely root.
  double row_scale(int sink, int i) const {
    const double own = top_[i];
    if (sink == 0) return own;
    return std::max(own, tree_sum_[i] / tree_sum_[sink] * top_[sink]);
  }

  /// The sum of weights(i), with the sink's weight included.
  double total_weight(int i) const { return sums_[i]; }

  /// Row i of K before any head is decided, [ld]. With G the gradient given one root o (multi-root:
  /// without a given root),
  ///     K[i][h] = G[s][i] - G[h][i] + (Z_i / Z_s) G[h][s]     (multi-root: without the last term),
  /// so one reverse pass serves all roots.
  void start_row(int sink, int i, double* row) const;

 private:
  std::size_t nodes() const { return data_->table.nodes(); }
  std::size_t size() const { return data_->table.size(); }
  void build_order(const double* by_word, Scratch& scratch);
  void build_rows(Scratch& scratch);

  const FactorData* data_ = nullptr;
  bool fits_double_ = false;
  bool has_wide_ = false;
  Buffer<std::int32_t> order_;
  Buffer<std::int32_t> node_;
  Buffer<double> weights_;   // [m][h] is A[h][m].
  Buffer<double> sums_;      // [m] is the sum of the weights of m's heads.
  Buffer<double> gradient_;  // [m][h] is G[h][m].
  Buffer<double> tree_sum_;  // [m] is Z_m / Z, single-root.
  Buffer<double> top_;       // [m] is the largest G[h][m].
  Buffer<double> visits_;    // [s], by sink.
  Buffer<double> roots_;     // [s] is the probability of root s.
  Buffer<Wide> wide_weights_;
  Buffer<Wide> wide_roots_;
};

template <>
inline const double* Conditionals::weights(int i) const {
  return MatrixView(weights_.data(), ld()).row(i);
}
template <>
inline const Wide* Conditionals::weights(int i) const {
  return MatrixView(wide_weights_.data(), ld()).row(i);
}
template <>
inline const double* Conditionals::roots() const {
  return roots_.data();
}
template <>
inline const Wide* Conditionals::roots() const {
  return wide_roots_.data();
}

}  // namespace taproot::detail
