// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample/conditionals/conditionals.h"

namespace taproot::detail {

/// The law of one word's head after another, by contraction: a decided word is merged into the
/// undecided word or the sink that its head leads to. This only adds, multiplies and divides
/// non-negative numbers. So it is accurate to the last digits for any weights and, within the range
/// of T, gives 0 only to impossible heads. It takes (n-i)^3/3 multiply-adds for word i. T is double
/// or Wide. All indices are nodes of Conditionals.
template <typename T>
class Contraction {
 public:
  /// Starts with no head decided. `conditionals` must outlive this object.
  void start(const Conditionals& conditionals, int sink);

  /// Fills p, [ld], with the probabilities of the heads of node i given heads[1..i-1]; all 0 if
  /// these heads underflow in T. If i is larger than in the last call, the work goes on from there,
  /// and the heads seen before must be the same. If not, it starts again.
  void probabilities(int i, const std::int32_t* heads, T* p);

 private:
  void advance(int i, const std::int32_t* heads);

  static constexpr int kUnknown = 1 << 30;

  const Conditionals* conditionals_ = nullptr;
  int sink_ = 0;
  int next_ = kUnknown;            // The nodes before this one are merged.
  Buffer<T> matrix_;               // [m][h] is the weight of h -> m between undecided nodes.
  Buffer<T> to_sink_;              // [m] is the weight of sink -> m.
  Buffer<T> work_;                 // Copies of both that are eliminated, the pivots, and q.
  Buffer<std::int32_t> leads_to_;  // The undecided node or the sink that each node leads to.
};

}  // namespace taproot::detail
