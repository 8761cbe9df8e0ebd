// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sample/walk/stacks.h"

namespace taproot::cuda {

/// The choice by both halves of the random numbers: head `depth` of word m or, if that is 0, the
/// place of a root. It is rarely needed, so that it must not cost the caller any registers.
__device__ __noinline__ int choose_exactly(const std::uint32_t* planes, int n,
                                           detail::StreamKey key, std::uint32_t sample, int m,
                                           int depth) {
  const int nodes = n + 1;
  const int count = m == 0 ? n : nodes;
  const detail::AliasTable table = detail::alias_planes_at(
      planes, count, static_cast<std::int64_t>(nodes) * nodes, std::int64_t{m} * nodes);
  const detail::Stacks stacks{key, sample};
  return stacks.choose(table, count, m, static_cast<std::uint64_t>(depth));
}

/// The heads of a sentence's stacks. Table m, of word m's heads, begins at entry m * (n + 1) of
/// each plane, and table 0 has the roots. The first plane may be in another memory, `First`. If
/// kPacked, all tables have at most kMostPacked entries.
template <typename First, bool kPacked>
struct StackHeads {
  int n;
  bool single;
  std::uint32_t first_tree;
  detail::StreamKey key;
  First first;
  const std::uint32_t* planes;

  /// The high halves of the draws of four neighboring words.
  __device__ detail::StackBlock block(std::uint32_t sample, int group, int depth) const {
    return detail::stack_block(key, first_tree + sample, detail::Purpose::kStack,
                               static_cast<std::uint32_t>(group),
                               static_cast<std::uint64_t>(depth));
  }

  __device__ int exactly(std::uint32_t sample, int m, int depth) const {
    return choose_exactly(planes, n, key, first_tree + sample, m, depth);
  }

  /// The choice from table m by the high half alone; -1 where that is not enough.
  __device__ int by_high(int m, int count, std::uint32_t high) const {
    if (!kPacked && count > detail::kMostPacked) return -1;
    return detail::choose_alias_by_high(first + m * (n + 1), count, high);
  }

  /// Head `depth` of word m.
  __device__ int draw(std::uint32_t sample, int m, int depth) const {
    const detail::StackBlock at = block(sample, m / 4, depth);
    // An index that is known only now would move the array to local memory.
    const std::uint32_t low = (m & 1) != 0 ? at.words[1] : at.words[0];
    const std::uint32_t high = (m & 1) != 0 ? at.words[3] : at.words[2];
    const int head = by_high(m, n + 1, (m & 2) != 0 ? high : low);
    return head >= 0 ? head : exactly(sample, m, depth);
  }

  /// The heads of the words 4 * group, ..., 4 * group + 3 at a depth, by their block. Where there
  /// is no such word, it is any head.
  __device__ void of_group(const detail::StackBlock& block, std::uint32_t sample, int group,
                           int depth, int (&heads)[4]) const {
#pragma unroll
    for (int j = 0; j < 4; ++j) heads[j] = by_high(word_of(group, j), n + 1, block.words[j]);
    if (min(min(heads[0], heads[1]), min(heads[2], heads[3])) >= 0) return;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (heads[j] < 0) heads[j] = exactly(sample, word_of(group, j), depth);
    }
  }
  __device__ int word_of(int group, int j) const { return min(max(4 * group + j, 1), n); }

  /// The root word of a tree, by the first block of its stacks; 0 for ROOT.
  __device__ int root(const detail::StackBlock& block, std::uint32_t sample) const {
    if (!single) return 0;
    const int index = by_high(0, n, block.words[0]);
    return 1 + (index >= 0 ? index : exactly(sample, 0, 0));
  }
};

}  // namespace taproot::cuda
