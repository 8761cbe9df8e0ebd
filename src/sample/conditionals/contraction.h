// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample/conditionals/conditionals.h"

namespace taproot::detail {

/// The conditional law of one word's head after another, in the contracted form: a decided word is
/// merged into the undecided word or the sink that its head leads to. Only sums, products and
/// quotients of non-negative numbers: exact to the last digits for any weights, and 0 only for what
/// is impossible, up to the range of T. (n-i)^3/3 multiply-adds for word i. T is double or Wide. By
/// node.
template <typename T>
class Contraction {
 public:
  /// Nothing decided. `conditionals` is read later on.
  void start(const Conditionals& conditionals, int sink);

  /// p[h], [ld], for the head of word i given heads[1..i-1]; all 0 if those are impossible in T.
  /// Calls for growing i continue; heads that were seen must be the same then. Any other i begins
  /// afresh.
  void probabilities(int i, const std::int32_t* heads, T* p);

 private:
  void advance(int i, const std::int32_t* heads);

  static constexpr int kUnknown = 1 << 30;

  const Conditionals* conditionals_ = nullptr;
  int sink_ = 0;
  int next_ = kUnknown;  // Words before it are merged.
  Buffer<T> matrix_;     // [m][h] of undecided words
  Buffer<T> to_sink_;    // [m]
  Buffer<T> work_;       // What elimination overwrites: matrix, then to_sink, pivots and q.
  Buffer<std::int32_t> leads_to_;  // Where decided heads lead: an undecided word or the sink.
};

}  // namespace taproot::detail
