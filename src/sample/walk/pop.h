// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/interrupt.h"
#include "core/scratch.h"
#include "sample/walk/stacks.h"

namespace taproot::detail {

/// A tree is given up if its stacks lose more heads than this: all words together, or one word.
/// Both numbers are independent of the tree, given the root, and do not depend on the order of
/// popping.
struct WalkLimits {
  std::uint64_t steps = kMostDepth;
  std::uint64_t heads_of_a_word = kMostDepth;

  /// The budget of "auto".
  static WalkLimits budget(int n) {
    return {static_cast<std::uint64_t>(most_steps(n)), kHeadsPerWord};
  }
};

/// The alias tables that the stacks of a sentence choose from.
struct PopTables {
  int n = 0;
  AliasTable heads{};  ///< [n+1][n+1]: row m has the heads of word m, zeros if there are none.
  AliasTable root{};   ///< Words 1..n at 0..n-1; null if trees grow from ROOT.

  AliasTable heads_of(int m) const {
    const std::size_t at = static_cast<std::size_t>(m) * (static_cast<std::size_t>(n) + 1);
    return {heads.first + at, heads.rest + at, heads.alias == nullptr ? nullptr : heads.alias + at};
  }
};

/// How many trees pop_trees() makes at most in one call, and how many entries of `first` it may
/// read beyond the last.
inline constexpr int kMostPopped = 16;
inline constexpr std::size_t kPopPadding = 16;

/// In which order pop_trees() pops. The trees are the same, the time is not.
enum class PopWay : std::uint8_t {
  kFastest,      ///< The faster of the next two for so many words and trees.
  kInRegisters,  ///< All cycles at once, in rounds; kSingly where the processor cannot.
  kSingly,       ///< One cycle after the other.
  /// The faster way for trees that will probably exceed their limits, because those before did.
  kGiveUp
};

inline constexpr std::int32_t kLongCycles = -1;

/// A request for trees of one sentence, and where they go.
struct PopRequest {
  PopTables tables;
  StreamKey key{};
  WalkLimits limits;
  PopWay way = PopWay::kFastest;
  int count = 0;                           ///< At most kMostPopped.
  const std::uint32_t* samples = nullptr;  ///< [count]
  std::int32_t* heads = nullptr;           ///< The head of word m of tree t: [t * stride + m - 1].
  std::ptrdiff_t stride = 0;
  std::int32_t* roots = nullptr;   ///< [count]: the word that was sampled as the root, or 0.
  std::uint64_t* steps = nullptr;  ///< [count]: how many heads were popped or kept.
  /// What kGiveUp knows of the trees before, and learns for those after, if not null: the word that
  /// took too many heads, 0 if none did yet, or kLongCycles if all words together took too many.
  std::int32_t* trap = nullptr;

  /// Trees first, ..., first + size - 1 of the request.
  PopRequest part(int first, int size) const {
    PopRequest other = *this;
    other.count = size;
    other.samples += first;
    other.heads += first * stride;
    other.roots += first;
    other.steps += first;
    return other;
  }
};

/// The steps of a tree that was given up.
inline constexpr std::uint64_t kGivenUp = ~std::uint64_t{0};

/// Samples the trees of walk_simply() by popping cycles, with the random numbers in vectors. A tree
/// that is given up is written, too, but has no meaning.
void pop_trees(const PopRequest& request, Scratch& scratch);

}  // namespace taproot::detail
