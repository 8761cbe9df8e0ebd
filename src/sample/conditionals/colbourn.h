// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random.h"
#include "sample/conditionals/conditionals.h"

namespace taproot::detail {

/// Colbourn's sampler: decides head by head, each by its probabilities given the heads before it
/// (Colbourn, Myrvold and Neufeld 1996).
class Colbourn {
 public:
  /// O(n^3).
  void build(const FactorData& data, Scratch& scratch) { conditionals_.build(data, scratch); }

  /// Samples the heads of all words except `root` (multi-root: 0), whose head is ROOT. Uses rows of
  /// K, with n^3/2 multiply-adds, while the error of each probability is at most 1e-10. From then
  /// on it uses contraction, with up to n^4/12. Returns whether it had to.
  bool sample(int root, Stream& stream, Scratch& scratch, std::int32_t* heads) const;

 private:
  Conditionals conditionals_;
};

}  // namespace taproot::detail
