// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random.h"
#include "sample/conditionals/conditionals.h"

namespace taproot::detail {

/// Colbourn's sampler: head by head, each from its marginals given those before.
class Colbourn {
 public:
  /// O(n^3).
  void build(const FactorData& data, Scratch& scratch) { conditionals_.build(data, scratch); }

  /// Draws the heads of all words but `root` (multi-root: 0), whose head is ROOT: by rows of K,
  /// n^3/2 multiply-adds, as long as no probability is off by more than 1e-10; contracted, up to
  /// n^4/12, from there on. Returns whether it came to that.
  bool sample(int root, Stream& stream, Scratch& memory, std::int32_t* heads) const;

 private:
  Conditionals conditionals_;
};

}  // namespace taproot::detail
