// SPDX-License-Identifier: Apache-2.0
//
// Blocks of the stacks side by side. Files that use hwy/foreach_target.h include this once per
// target, so it has a guard that toggles in place of #pragma once.
#if defined(TAPROOT_SAMPLE_WALK_DRAW_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SAMPLE_WALK_DRAW_BLOCKS_INL_H_
#undef TAPROOT_SAMPLE_WALK_DRAW_BLOCKS_INL_H_
#else
#define TAPROOT_SAMPLE_WALK_DRAW_BLOCKS_INL_H_
#endif

#include "hwy/highway.h"
#include "sample/walk/stacks.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

inline constexpr int kBlockLanes = 8;

// The places of eight blocks: the first and the last word of their counters.
struct BlockPlaces {
  alignas(64) uint32_t depth[kBlockLanes];
  alignas(64) uint32_t counter[kBlockLanes];

  void set(int lane, Purpose purpose, uint32_t block, uint64_t at) {
    depth[lane] = static_cast<uint32_t>(at);
    counter[lane] = stack_counter(purpose, block, at);
  }
};

// words[e][i] is element e of block i.
struct BlockWords {
  alignas(64) uint32_t words[4][kBlockLanes];
};

// Philox4x32-10 in loops that compilers turn into vectors, as in core/random.cc. The key comes as
// numbers because gcc 12 does not vectorize it behind a reference.
static HWY_NOINLINE void philox_blocks(uint64_t seed, uint32_t word, uint32_t sample,
                                       const BlockPlaces& places, BlockWords& out) {
  uint64_t x0[kBlockLanes];
  uint64_t x1[kBlockLanes];
  uint64_t x2[kBlockLanes];
  uint64_t x3[kBlockLanes];
  for (int i = 0; i < kBlockLanes; ++i) {
    x0[i] = places.depth[i];
    x1[i] = sample;
    x2[i] = word;
    x3[i] = places.counter[i];
  }
  uint64_t key0 = seed & 0xffffffff;
  uint64_t key1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kBlockLanes; ++i) {
      const uint64_t product0 = x0[i] * 0xD2511F53;
      const uint64_t product1 = x2[i] * 0xCD9E8D57;
      x0[i] = (product1 >> 32) ^ x1[i] ^ key0;
      x2[i] = (product0 >> 32) ^ x3[i] ^ key1;
      x1[i] = product1 & 0xffffffff;
      x3[i] = product0 & 0xffffffff;
    }
    key0 = (key0 + 0x9E3779B9) & 0xffffffff;
    key1 = (key1 + 0xBB67AE85) & 0xffffffff;
  }
  for (int i = 0; i < kBlockLanes; ++i) {
    out.words[0][i] = static_cast<uint32_t>(x0[i]);
    out.words[1][i] = static_cast<uint32_t>(x1[i]);
    out.words[2][i] = static_cast<uint32_t>(x2[i]);
    out.words[3][i] = static_cast<uint32_t>(x3[i]);
  }
}

HWY_INLINE void draw_blocks(const Stacks& stacks, const BlockPlaces& places, BlockWords& out) {
  philox_blocks(static_cast<uint64_t>(stacks.key.key[1]) << 32 | stacks.key.key[0], stacks.key.word,
                stacks.sample, places, out);
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SAMPLE_WALK_DRAW_BLOCKS_INL_H_
