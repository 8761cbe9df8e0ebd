// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/sample/words.cuh"
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

/// The keys of the ten rounds of Philox4x32-10, two each, in shared memory: adding up the key of
/// every round would cost as much as what is done with it.
class RoundKeys {
 public:
  static constexpr int kRounds = 10;
  static constexpr int kWords = 2 * kRounds;

  /// By thread i < kWords of a block.
  static __device__ std::uint32_t key_of(const detail::StreamKey& key, int i) {
    const std::uint32_t step = i % 2 == 0 ? PHILOX_W32_0 : PHILOX_W32_1;
    return key.key[i % 2] + static_cast<std::uint32_t>(i / 2) * step;
  }

  __device__ RoundKeys(SharedWords words, std::uint32_t word) : words_(words), word_(word) {}

  /// stack_block() of kStack at several depths.
  template <int kDepths>
  __device__ void blocks(std::uint32_t sample, int group, int depth,
                         detail::StackBlock (&out)[kDepths]) const {
    std::uint32_t counter[kDepths][4];
#pragma unroll
    for (int d = 0; d < kDepths; ++d) {
      counter[d][0] = static_cast<std::uint32_t>(depth + d);
      counter[d][1] = sample;
      counter[d][2] = word_;
      counter[d][3] =
          detail::stack_counter(detail::Purpose::kStack, static_cast<std::uint32_t>(group), 0);
    }
#pragma unroll
    for (int r = 0; r < kRounds; r += 2) {
      const uint4 keys = words_.load_four(static_cast<std::uint32_t>(2 * r));
#pragma unroll
      for (int d = 0; d < kDepths; ++d) {
        round(counter[d], keys.x, keys.y);
        round(counter[d], keys.z, keys.w);
      }
    }
#pragma unroll
    for (int d = 0; d < kDepths; ++d) {
#pragma unroll
      for (int j = 0; j < 4; ++j) out[d].words[j] = counter[d][j];
    }
  }

 private:
  static __device__ void round(std::uint32_t (&c)[4], std::uint32_t key0, std::uint32_t key1) {
    const std::uint64_t a = std::uint64_t{PHILOX_M4x32_0} * c[0];
    const std::uint64_t b = std::uint64_t{PHILOX_M4x32_1} * c[2];
    c[0] = static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0;
    c[1] = static_cast<std::uint32_t>(b);
    c[2] = static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1;
    c[3] = static_cast<std::uint32_t>(a);
  }

  SharedWords words_;
  std::uint32_t word_;
};

/// The heads of a sentence's stacks. Table m, of word m's heads, begins at entry m * (n + 1) of
/// each plane, and table 0 has the roots. The first plane may be in another memory, `First`. If
/// kPacked, all tables have at most kMostPacked entries.
template <typename First, bool kPacked>
struct StackHeads {
  int n;
  bool single;
  std::uint32_t first_tree;
  detail::StreamKey key;
  RoundKeys keys;
  First first;
  const std::uint32_t* planes;

  /// The high halves of the draws of four neighboring words, from a depth on.
  template <int kDepths>
  __device__ void blocks(std::uint32_t sample, int group, int depth,
                         detail::StackBlock (&out)[kDepths]) const {
    keys.blocks(first_tree + sample, group, depth, out);
  }

  __device__ int exactly(std::uint32_t sample, int m, int depth) const {
    return choose_exactly(planes, n, key, first_tree + sample, m, depth);
  }

  /// The choice from table m by the high half alone. It may be wrong if is_open() says so, which is
  /// so whenever choose_alias_by_high() gives -1.
  struct Closeness {
    std::uint32_t to_threshold = ~std::uint32_t{0};
    std::uint32_t to_next_index = ~std::uint32_t{0};
    __device__ bool is_open() const { return min(to_threshold, to_next_index) < 2 << 12; }
  };
  __device__ int by_high(int m, int count, std::uint32_t high, Closeness& closeness) const {
    const std::uint64_t product =
        static_cast<std::uint64_t>(high) * static_cast<std::uint32_t>(count);
    const auto index = static_cast<std::uint32_t>(product >> 32);
    const auto low = static_cast<std::uint32_t>(product);
    const std::uint32_t slot = first[static_cast<std::uint32_t>(m * (n + 1)) + index];
    // Threshold and alias as one number: where they are not close to `low`, the alias does not
    // matter to the comparison.
    closeness.to_threshold = min(closeness.to_threshold, slot - low + (1 << 12));
    closeness.to_next_index = min(closeness.to_next_index, ~low);
    return static_cast<int>(low < slot ? index : slot & detail::kAliasMask);
  }
  __device__ bool is_open(const Closeness& closeness) const {
    return (!kPacked && n >= detail::kMostPacked) || closeness.is_open();
  }

  /// Head `depth` of word m.
  __device__ int draw(std::uint32_t sample, int m, int depth) const {
    detail::StackBlock block[1];
    blocks(sample, m / 4, depth, block);
    const auto& words = block[0].words;
    // An index that is known only now would move the array to local memory.
    const std::uint32_t low = (m & 1) != 0 ? words[1] : words[0];
    const std::uint32_t high = (m & 1) != 0 ? words[3] : words[2];
    Closeness closeness;
    const int head = by_high(m, n + 1, (m & 2) != 0 ? high : low, closeness);
    return is_open(closeness) ? exactly(sample, m, depth) : head;
  }

  /// The heads of the words 4 * group, ..., 4 * group + 3 at a depth, by their block. Where there
  /// is no such word, it is some head of the last word.
  __device__ void of_group(const detail::StackBlock& block, std::uint32_t sample, int group,
                           int depth, int (&heads)[4]) const {
    Closeness closeness;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      heads[j] = by_high(min(4 * group + j, n), n + 1, block.words[j], closeness);
    }
    if (!is_open(closeness)) return;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      heads[j] = exactly(sample, min(max(4 * group + j, 1), n), depth);
    }
  }

  /// The root word of a tree, by the first block of its stacks; 0 for ROOT.
  __device__ int root(const detail::StackBlock& block, std::uint32_t sample) const {
    if (!single) return 0;
    Closeness closeness;
    const int index = by_high(0, n, block.words[0], closeness);
    return 1 + (is_open(closeness) ? exactly(sample, 0, 0) : index);
  }
};

}  // namespace taproot::cuda
