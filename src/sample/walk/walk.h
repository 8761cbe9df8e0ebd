// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/interrupt.h"
#include "eliminate/factor_data.h"
#include "sample/walk/pop.h"

namespace taproot::detail {

/// Wilson's algorithm: samples a tree by random walks with loops erased (Wilson 1996).
class Walk {
 public:
  /// Builds an alias table of the heads of each word. ROOT is among these heads if with_root.
  void build(const FactorData& data, bool with_root, Scratch& scratch);

  /// Samples the tree of `stacks` by its definition: walks from every word until it meets the tree,
  /// which at first is `root` alone, a word or 0 for ROOT. Writes the head of word m to
  /// heads[m - 1]; a root that is a word has the head 0. Returns false if the tree is given up.
  /// Adds the number of heads to `steps`, the whole limit if it is given up. `depth` and `in_tree`
  /// are scratch for n+1 entries each.
  bool run(int root, const Stacks& stacks, const WalkLimits& limits, std::uint64_t* depth,
           std::uint8_t* in_tree, std::int32_t* heads, std::uint64_t& steps,
           Interrupt* interrupt) const;

  /// For pop_trees(); the root's table is the caller's.
  const PopTables& tables() const { return tables_; }

 private:
  PopTables tables_;
  Buffer<std::uint32_t> planes_;  ///< [alias_planes][n+1][n+1]: row m has the heads of word m.
};

}  // namespace taproot::detail
