// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample/conditionals/conditionals.h"
#include "sample/conditionals/rows.h"

namespace taproot::detail {

/// The law of one word's head after another, from rows of K = L^-1 that are updated for the heads
/// decided so far. It takes i n multiply-adds for word i. Its error is absolute, so small
/// probabilities may have no correct digits; error() bounds it. All indices are nodes of
/// Conditionals.
class RowPath {
 public:
  /// Starts with no head decided. `conditionals` must outlive this object and have rows for the
  /// sink.
  void start(const Conditionals& conditionals, int sink);

  /// The row of node i, [ld]. compute() fills it; or the caller copies back a row that it saved
  /// when the same heads were decided.
  double* row(int i) { return MatrixView(rows_.data(), ld_).row(i); }
  void compute(int i);

  /// Fills p, [ld], with the probabilities of the heads of node i, from its row. Each may be off by
  /// error(), and they are not normalized, so their sum need not be 1.
  void probabilities(int i, double* p);
  void decide(int i, int head);

  /// A bound on the error of the probabilities from the last call; see row_error().
  double error() const { return error_; }

 private:
  const Conditionals* conditionals_ = nullptr;
  std::size_t ld_ = 0;
  int sink_ = 0;
  double visits_ = 0;
  double amplification_ = 1;
  double error_ = 0;
  std::size_t decided_ = 0;
  Buffer<double> rows_;      // [i][ld]: each row as it was when i was decided.
  Buffer<double> leads_to_;  // [h]: the undecided node or the sink that h leads to.
  Buffer<Decided> words_;
};

}  // namespace taproot::detail
