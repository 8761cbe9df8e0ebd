// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/interrupt.h"
#include "core/random.h"
#include "eliminate/factor_data.h"
#include "sample/walk/alias.h"

namespace taproot::detail {

/// Wilson's random walk over the words of a sentence, by sentence index.
class Walk {
 public:
  /// Alias tables of every word's heads; ROOT is among them if with_root.
  void build(const FactorData& data, bool with_root, Scratch& scratch);

  /// Walks from every word until the tree is reached, which at first is `root`, a word, or ROOT
  /// (0). heads[m - 1] takes the heads; that of a root that is a word is 0. Adds the number of
  /// heads drawn to steps and gives up, returning false, once there would be more than `limit` of
  /// them.
  bool run(int root, std::uint64_t limit, Stream& stream, std::uint8_t* in_tree,
           std::int32_t* heads, std::uint64_t& steps, Interrupt* interrupt) const;

 private:
  int n_ = 0;
  std::size_t stride_ = 0;
  Buffer<AliasSlot> slots_;
};

}  // namespace taproot::detail
