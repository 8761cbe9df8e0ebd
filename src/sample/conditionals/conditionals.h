// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "eliminate/factor_data.h"

namespace taproot::detail {

/// What deciding a tree head by head needs to know of a sentence. Single-root, the root comes
/// first; given that, or multi-root given ROOT, the rest has one sink s, and its Laplacian L over
/// the other words is an M-matrix. Two ways to the conditional law of a word's head given those
/// decided before: rows of K = L^-1 (row_path.h), fast, of absolute accuracy; contraction
/// (contraction.h), exact for any weights.
///
/// Nodes are numbered in the order in which they are decided: the most certain words first, so that
/// many trees share long prefixes; ROOT is 0.
class Conditionals {
 public:
  /// O(n^3). Reads `data` later on, too.
  void build(const FactorData& data, Scratch& scratch);

  int n() const { return data_->table.n; }
  std::size_t ld() const { return data_->table.ld; }
  bool single() const { return data_->table.root == RootRule::kSingle; }
  int word(int node) const { return order_[static_cast<std::size_t>(node)]; }
  int node(int word) const { return node_[static_cast<std::size_t>(word)]; }

  /// Heads of words to heads of nodes, [n+1] by node, and back. A root's is 0.
  void to_nodes(const std::int32_t* heads, std::int32_t* node_heads) const;
  void to_words(const std::int32_t* node_heads, std::int32_t* heads) const;

  /// Whether double does not have the range for this sentence: all is Wide then, and without rows.
  bool is_wide() const { return !data_->tame; }

  /// Whether no probability of a tree, nor of a part of it, can leave double's range: then what is
  /// 0 in double is impossible.
  bool fits_double() const { return fits_double_; }

  /// Weights of the heads of node i, [ld]; of double or Wide. ROOT's only multi-root.
  template <typename T>
  const T* weights(int i) const;

  /// The root's law, single-root, [ld]. Of double or Wide.
  template <typename T>
  const T* roots() const;

  /// Fills the Wide tables, if they are not there yet.
  void widen(Scratch& scratch);

  /// max_i row_scale(i) sum_h A[h][i], about the expected visits of a walk to its most visited
  /// word: from the elimination, without a subtraction. +inf if there are no rows.
  double visits(int sink) const { return visits_[static_cast<std::size_t>(sink)]; }

  /// The largest of the terms that start_row() makes row i of, to which its errors are relative; at
  /// least K[i][i] / 2. For a sink that is an unlikely root it may lie far above the entries.
  double row_scale(int sink, int i) const {
    const double own = top_[static_cast<std::size_t>(i)];
    if (sink == 0) return own;
    return std::max(own, tree_sum_[static_cast<std::size_t>(i)] /
                             tree_sum_[static_cast<std::size_t>(sink)] *
                             top_[static_cast<std::size_t>(sink)]);
  }

  /// Sum of weights(i), the sink's part included.
  double total_weight(int i) const { return sums_[static_cast<std::size_t>(i)]; }

  /// Row i of K before anything is decided, [ld]. With G the gradient given one root o
  /// (multi-root: G itself),
  ///     K[i][h] = G[s][i] - G[h][i] + (Z_i / Z_s) G[h][s]     (multi-root: without the last term),
  /// so one reverse pass serves all roots.
  void start_row(int sink, int i, double* row) const;

 private:
  void build_order(const double* by_word, Scratch& scratch);
  void build_rows(Scratch& scratch);

  const FactorData* data_ = nullptr;
  bool fits_double_ = false;
  bool has_wide_ = false;
  Buffer<std::int32_t> order_;
  Buffer<std::int32_t> node_;
  Buffer<double> weights_;   // [m][h]
  Buffer<double> sums_;      // [m]
  Buffer<double> gradient_;  // [m][h] = G[h][m]
  Buffer<double> tree_sum_;  // [m] = Z_m / Z, single-root.
  Buffer<double> top_;       // [m] = max_h G[h][m]
  Buffer<double> visits_;    // [s]
  Buffer<double> roots_;
  Buffer<Wide> wide_weights_;
  Buffer<Wide> wide_roots_;
};

template <>
inline const double* Conditionals::weights(int i) const {
  return weights_.data() + static_cast<std::size_t>(i) * ld();
}
template <>
inline const Wide* Conditionals::weights(int i) const {
  return wide_weights_.data() + static_cast<std::size_t>(i) * ld();
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
