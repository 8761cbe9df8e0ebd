// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "eliminate/factor_data.h"
#include "sample/walk/pop.h"

namespace taproot::detail {

/// The alias tables of a sentence.
class Walk {
 public:
  /// Builds a table of the heads of each word. ROOT is among these heads if with_root.
  void build(const FactorData& data, bool with_root, Scratch& scratch);

  /// For pop_trees(). The root's table is the caller's.
  const PopTables& tables() const { return tables_; }

 private:
  PopTables tables_;
  Buffer<std::uint32_t> planes_;  ///< [alias_planes][n+1][n+1]: row m has the heads of word m.
};

/// Wilson's algorithm on stacks, by its definition (Wilson 1996): walks from every word until it
/// meets the tree, which at first is `root` alone, a word or 0 for ROOT; loops are erased. Writes
/// the head of word m to heads[m - 1]; a root that is a word has the head 0. Returns the number of
/// heads that it took, or kGivenUp if there would be more than the limits allow. The tests compare
/// pop_trees() with it, tree by tree.
std::uint64_t walk_simply(const PopTables& tables, int root, const Stacks& stacks,
                          const WalkLimits& limits, std::int32_t* heads);

}  // namespace taproot::detail
