// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/interrupt.h"
#include "core/random.h"
#include "eliminate/factor_data.h"
#include "sample/walk/alias.h"

namespace taproot::detail {

/// Wilson's algorithm: samples a tree by random walks with loops erased (Wilson 1996).
class Walk {
 public:
  /// Builds an alias table of the heads of each word. ROOT is among these heads if with_root.
  void build(const FactorData& data, bool with_root, Scratch& scratch);

  /// Walks from every word until it meets the tree, which at first is `root` alone: a word, or 0
  /// for ROOT. Writes the head of word m to heads[m - 1]; a root that is a word has the head 0.
  /// Adds the number of steps to `steps`. Gives up and returns false rather than take more than
  /// `limit`.
  bool run(int root, std::uint64_t limit, Stream& stream, std::uint8_t* in_tree,
           std::int32_t* heads, std::uint64_t& steps, Interrupt* interrupt) const;

  /// The same on the budget of "auto": gives up, returning false, once there would be more than
  /// most_steps(n) heads in all or more than kHeadsPerWord for one word. How many heads each
  /// word takes is independent of the tree, given the root. `left` is scratch for n+1 entries.
  bool run_on_budget(int root, Stream& stream, std::uint8_t* left, std::int32_t* heads,
                     std::uint64_t& steps) const;

 private:
  /// Where a walk stands: the word it began at, and the node it has reached.
  struct Place {
    int start = 1;
    int node = 1;
  };

  /// Walks on from `place` until every word is in the tree or `steps`, which it counts up, is
  /// `limit`; returns whether every word is. Does nothing else, so that its loop keeps its
  /// registers.
  bool go_on(Place& place, std::uint64_t limit, Stream& stream, std::uint8_t* in_tree,
             std::int32_t* heads, std::uint64_t& steps) const;

  int n_ = 0;
  std::size_t stride_ = 0;
  Buffer<AliasSlot> slots_;
};

}  // namespace taproot::detail
