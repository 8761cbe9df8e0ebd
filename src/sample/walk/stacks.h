// SPDX-License-Identifier: Apache-2.0
//
// The stacks of Propp and Wilson (1998). Every word has an infinite stack of random heads, and a
// tree is what remains once the cycles among the top heads have been popped. Which cycles are
// popped, and so the tree, does not depend on the order of popping (docs/math.md). A draw is
// therefore keyed by its place, (seed, sentence id, attempt, sample, word, depth), and any code
// that pops in any order gives the same trees.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "sample/walk/alias.h"

namespace taproot::detail {

/// The depth of a head in its stack has 40 bits, the number of a block among those of one depth 16.
inline constexpr std::uint64_t kMostDepth = std::uint64_t{1} << 40;
inline constexpr int kMostStackedWords = 1 << 18;

/// A block serves four neighboring words at one depth: word m takes element m % 4 of block m / 4.
struct StackBlock {
  std::uint32_t words[4];
};

/// The last word of the counter of a block; `depth` is in the first.
TAPROOT_HOST_DEVICE inline std::uint32_t stack_counter(Purpose purpose, std::uint32_t block,
                                                       std::uint64_t depth) {
  return static_cast<std::uint32_t>(purpose) | block << 8 |
         static_cast<std::uint32_t>(depth >> 32) << 24;
}

TAPROOT_HOST_DEVICE inline StackBlock stack_block(const StreamKey& key, std::uint32_t sample,
                                                  Purpose purpose, std::uint32_t block,
                                                  std::uint64_t depth) {
  const r123::Philox4x32::ctr_type counter{
      {static_cast<std::uint32_t>(depth), sample, key.word, stack_counter(purpose, block, depth)}};
  const auto r = r123::Philox4x32()(counter, r123::Philox4x32::key_type{{key.key[0], key.key[1]}});
  return {{r[0], r[1], r[2], r[3]}};
}

/// The stacks of one sample, by their definition. The 64 bits of a draw come from two blocks,
/// because the low half decides only where the high half leaves a choice open.
struct Stacks {
  StreamKey key;
  std::uint32_t sample;

  TAPROOT_HOST_DEVICE std::uint32_t word(Purpose purpose, int m, std::uint64_t depth) const {
    const auto at = static_cast<std::uint32_t>(m);
    return stack_block(key, sample, purpose, at / 4, depth).words[at % 4];
  }
  TAPROOT_HOST_DEVICE std::uint64_t draw(int m, std::uint64_t depth) const {
    return static_cast<std::uint64_t>(word(Purpose::kStack, m, depth)) << 32 |
           word(Purpose::kStackRest, m, depth);
  }
  /// The second number, which large alias tables compare.
  TAPROOT_HOST_DEVICE std::uint64_t place(int m, std::uint64_t depth) const {
    return static_cast<std::uint64_t>(word(Purpose::kPlace, m, depth)) << 32 |
           word(Purpose::kPlaceRest, m, depth);
  }

  /// The index that a table of `count` entries gives for draw `depth` of word m.
  TAPROOT_HOST_DEVICE int choose(const AliasTable& table, int count, int m,
                                 std::uint64_t depth) const {
    return choose_alias(table, count, draw(m, depth), [&] { return place(m, depth); });
  }
};

}  // namespace taproot::detail
