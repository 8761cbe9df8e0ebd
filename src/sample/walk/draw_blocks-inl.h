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

#include <cstring>

#include "hwy/highway.h"
#include "sample/walk/stacks.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr size_t kBlockLanes = 8;

// Where eight blocks lie, relative to the first: the first and the last words of their counters.
struct BlockLanes {
  alignas(64) uint64_t depth[kBlockLanes];
  alignas(64) uint64_t counter[kBlockLanes];
};

// Philox4x32-10 of eight blocks: writes element e of block i to out[4 * i + e]. The words have 32
// bits within 64, because the products need them; what products and shifts leave above is ignored
// by the next product.
HWY_INLINE void draw_blocks(const Stacks& stacks, const BlockLanes& lanes, uint32_t depth,
                            uint32_t counter, uint32_t* HWY_RESTRICT out) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < kBlockLanes; ++i) {
    const auto first = static_cast<uint32_t>(lanes.depth[i]) + depth;
    const auto last = static_cast<uint32_t>(lanes.counter[i]) + counter;
    const auto r = r123::Philox4x32()({{first, stacks.sample, stacks.key.word, last}},
                                      {{stacks.key.key[0], stacks.key.key[1]}});
    for (unsigned e = 0; e < 4; ++e) out[4 * i + e] = r[e];
  }
#else
  const hn::CappedTag<uint64_t, kBlockLanes> d;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t kLanes = hn::MaxLanes(d);
  constexpr size_t kVectors = kBlockLanes / kLanes;
  V x0[kVectors];
  V x1[kVectors];
  V x2[kVectors];
  V x3[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    x0[v] = hn::Add(hn::Load(d, lanes.depth + v * kLanes), hn::Set(d, depth));
    x1[v] = hn::Set(d, stacks.sample);
    x2[v] = hn::Set(d, stacks.key.word);
    x3[v] = hn::Add(hn::Load(d, lanes.counter + v * kLanes), hn::Set(d, counter));
  }
  const auto multiplier0 = hn::Set(d32, 0xD2511F53);
  const auto multiplier1 = hn::Set(d32, 0xCD9E8D57);
  uint32_t key0 = stacks.key.key[0];
  uint32_t key1 = stacks.key.key[1];
  for (int round = 0; round < 10; ++round) {
    const V k0 = hn::Set(d, key0);
    const V k1 = hn::Set(d, key1);
    for (size_t v = 0; v < kVectors; ++v) {
      const V p0 = hn::MulEven(hn::BitCast(d32, x0[v]), multiplier0);
      const V p1 = hn::MulEven(hn::BitCast(d32, x2[v]), multiplier1);
      x0[v] = hn::Xor(hn::ShiftRight<32>(p1), hn::Xor(x1[v], k0));
      x2[v] = hn::Xor(hn::ShiftRight<32>(p0), hn::Xor(x3[v], k1));
      x1[v] = p1;
      x3[v] = p0;
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  const V low = hn::Set(d, 0xffffffff);
  for (size_t v = 0; v < kVectors; ++v) {
    const V first = hn::Or(hn::And(x0[v], low), hn::ShiftLeft<32>(x1[v]));
    const V second = hn::Or(hn::And(x2[v], low), hn::ShiftLeft<32>(x3[v]));
    alignas(64) uint64_t pairs[2 * kLanes];
    hn::StoreInterleaved2(first, second, d, pairs);
    std::memcpy(out + 4 * v * kLanes, pairs, sizeof(pairs));
  }
#endif
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SAMPLE_WALK_DRAW_BLOCKS_INL_H_
