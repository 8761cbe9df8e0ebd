// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample/conditionals/conditionals.h"
#include "sample/conditionals/rows.h"

namespace taproot::detail {

/// The conditional law of one word's head after another from rows of K = L^-1, brought up to date
/// for the heads decided so far: i n multiply-adds for word i. By node.
///
/// The accuracy is absolute, and error() says which.
class RowPath {
 public:
  /// Nothing decided. `conditionals` is read later on; it must have rows for this sink.
  void start(const Conditionals& conditionals, int sink);

  /// Where the row of word i is, [ld]: for compute(), or for the caller to put back one of the same
  /// path.
  double* row(int i) { return rows_.data() + static_cast<std::size_t>(i) * ld_; }
  void compute(int i);

  /// p[h], [ld], for the head of word i from its row. Not normalized: the sum is 1 up to error().
  void probabilities(int i, double* p);
  void decide(int i, int head);

  /// No probability asked for last is off by more; see row_error().
  double error() const { return error_; }

 private:
  const Conditionals* conditionals_ = nullptr;
  std::size_t ld_ = 0;
  int sink_ = 0;
  double visits_ = 0;
  double amplification_ = 1;
  double error_ = 0;
  std::size_t decided_ = 0;
  Buffer<double> rows_;      // [i]
  Buffer<double> leads_to_;  // [h]
  Buffer<Decided> words_;
};

}  // namespace taproot::detail
