// SPDX-License-Identifier: Apache-2.0
//
// Popping one cycle after the other, for sentences of any length. It follows the top heads from
// each word until it meets the tree, or its own path and so a cycle, whose words get their next
// heads. Files that use hwy/foreach_target.h include this once per target, so it has a guard that
// toggles in place of #pragma once.
#if defined(TAPROOT_SAMPLE_WALK_CYCLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SAMPLE_WALK_CYCLES_INL_H_
#undef TAPROOT_SAMPLE_WALK_CYCLES_INL_H_
#else
#define TAPROOT_SAMPLE_WALK_CYCLES_INL_H_
#endif

#include <algorithm>
#include <bit>

#include "hwy/highway.h"
#include "sample/walk/draw_blocks-inl.h"
#include "sample/walk/permute-inl.h"
#include "sample/walk/pop.h"
#include "sample/walk/pop_scratch.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Neighboring blocks, then the next depth, where the blocks of 1, 2 or 4 depths share a vector.
alignas(64) inline constexpr BlockLanes kAcross[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0}, {0, 1 << 8, 2 << 8, 3 << 8, 4 << 8, 5 << 8, 6 << 8, 7 << 8}},
    {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 1 << 8, 2 << 8, 3 << 8, 0, 1 << 8, 2 << 8, 3 << 8}},
    {{0, 0, 1, 1, 2, 2, 3, 3}, {0, 1 << 8, 0, 1 << 8, 0, 1 << 8, 0, 1 << 8}}};
// One block at neighboring depths.
alignas(64) inline constexpr BlockLanes kAlong = {{0, 1, 2, 3, 4, 5, 6, 7}, {}};

// kLarge: the tables have more than kMostPacked entries.
template <bool kLarge>
class Cycles {
 public:
  Cycles(const PopRequest& request, PopScratch& scratch, Interrupt* interrupt)
      : tables_(request.tables), limits_(request.limits), interrupt_(interrupt) {
    const size_t nodes = static_cast<size_t>(tables_.n) + 1;
    // The blocks of short sentences at several depths share a vector.
    const uint32_t shift = nodes <= 8 ? 2 : nodes <= 16 ? 1 : 0;
    across_ = &kAcross[shift];
    depths_at_once_ = 1U << shift;
    const size_t words = 4 * kBlockLanes >> shift;
    row_ = (nodes + words - 1) / words * words;
    high_ = scratch.high.resize((kLarge ? 2 : 1) * kMostRows * row_);
    ahead_ = scratch.ahead.resize((kLarge ? 2 : 1) * nodes * kBlockLanes);
    depth_ = scratch.depth.resize(nodes);
    color_ = scratch.color.resize(nodes);
  }

  // The trees that follow are expected to be given up, on account of the word `trap` if it is not
  // 0. Then a word has no head before a path reaches it, and the first path begins at the trap.
  void expect_trap(int trap) {
    rows_ = 0;
    trap_ = trap;
  }
  // Why the last tree was given up; see PopRequest.
  int32_t trap() const { return trap_; }

  // The draws of all words are made ahead for some depths: more if words lost many heads before.
  void expect_as_before(uint64_t steps) {
    if (rows_ == 0 || steps == kGivenUp) return;
    const auto words = static_cast<uint64_t>(tables_.n);
    rows_ = 2 * steps > 3 * words || depths_at_once_ == kMostRows ? kMostRows : kFewRows;
  }

  // Returns the number of heads that were popped or kept; kGivenUp beyond the limits.
  uint64_t sample(const Stacks& stacks, int32_t* HWY_RESTRICT heads, int32_t& root) {
    const int n = tables_.n;
    int32_t* HWY_RESTRICT color = color_;
    draw_rows(stacks);
    root = tables_.root.first == nullptr ? 0 : 1 + choose_root(stacks);
    const uint64_t kept = static_cast<uint64_t>(n) - (root != 0 ? 1 : 0);
    if (kept > limits_.steps) return kGivenUp;
    most_popped_ = limits_.steps - kept;
    popped_ = 0;
    std::fill(depth_, depth_ + n + 1, uint64_t{0});
    std::fill(color, color + n + 1, rows_ == 0 ? kUndrawn : kFree);
    if (rows_ != 0) choose_first(stacks, heads);
    color[0] = kRoot;
    color[root] = kRoot;
    if (root != 0) heads[root - 1] = 0;
    if (rows_ == 0 && trap_ > 0 && !follow(stacks, trap_, n + 1, heads)) return kGivenUp;
    for (int start = 1; start <= n; ++start) {
      if (!follow(stacks, start, start, heads)) return kGivenUp;
    }
    return kept + popped_;
  }

 private:
  // Rows of draws, multiples of the depths that share a vector.
  static constexpr uint32_t kMostRows = 4;
  static constexpr uint32_t kFewRows = 2;
  // A word has the color of the path that reached it. With the color of an earlier path it is in
  // the tree. A popped word is free again.
  static constexpr int32_t kFree = 0;
  static constexpr int32_t kRoot = -1;
  static constexpr int32_t kUndrawn = -2;
  // Cycles may be popped for longer than anybody lives: ask now and then whether to go on.
  static constexpr uint64_t kPoppedBetween = uint64_t{1} << 16;

  // Follows the heads from a word to the tree, and pops the cycles on the way. `path` is the path's
  // color. Returns false if the tree is given up.
  HWY_INLINE bool follow(const Stacks& stacks, int node, int32_t path,
                         int32_t* HWY_RESTRICT heads) {
    int32_t* HWY_RESTRICT color = color_;
    while (true) {
      while (color[node] == kFree) {
        color[node] = path;
        node = heads[node - 1];
      }
      if (color[node] == path) {
        if (!pop(stacks, node, heads)) return false;
      } else if (color[node] == kUndrawn) {
        heads[node - 1] = draw_deep(stacks, node, 0);
        color[node] = kFree;
      } else {
        return true;
      }
    }
  }

  // Pops the cycle through `node`, and again while its words choose the same heads: words that
  // attract each other do, and the next choices then need not wait for the last. Returns false if
  // the tree is given up.
  HWY_NOINLINE bool pop(const Stacks& stacks, int node, int32_t* HWY_RESTRICT heads) {
    const uint64_t most = limits_.heads_of_a_word;
    bool again = true;
    while (again) {
      const uint64_t before = popped_;
      uint64_t count = before;
      int m = node;
      do {
        const uint64_t depth = ++depth_[m];
        if (HWY_UNLIKELY(depth >= most)) return give_up(m);
        const int head = heads[m - 1];
        const int other = choose_next(stacks, m, depth);
        heads[m - 1] = other;
        color_[m] = kFree;
        again &= head == other;
        m = head;
        ++count;
      } while (m != node);
      popped_ = count;
      if (HWY_UNLIKELY(count > most_popped_)) return give_up(kLongCycles);
      if (HWY_UNLIKELY(before / kPoppedBetween != count / kPoppedBetween)) check(interrupt_);
    }
    return true;
  }

  bool give_up(int32_t trap) {
    trap_ = trap;
    return false;
  }

  HWY_INLINE int choose_next(const Stacks& stacks, int m, uint64_t depth) {
    if (HWY_LIKELY(depth < rows_)) {
      const uint32_t* draw = high_ + depth * row_ + static_cast<size_t>(m);
      return choose(stacks, m, depth, *draw, place(draw));
    }
    if (depth == rows_ || depth % kBlockLanes == 0) return draw_deep(stacks, m, depth);
    return choose_deep(stacks, m, depth);
  }
  int choose_deep(const Stacks& stacks, int m, uint64_t depth) const {
    const uint32_t* high = row_ahead(m) + depth % kBlockLanes;
    if (!kGathers) return choose(stacks, m, depth, *high, kLarge ? high[kBlockLanes] : 0);
    const auto chosen = static_cast<int32_t>(*high);
    return HWY_LIKELY(chosen >= 0) ? chosen : settle(stacks, m, depth);
  }
  uint32_t* row_ahead(int m) const {
    return ahead_ + static_cast<size_t>(m) * kBlockLanes * (kLarge ? 2 : 1);
  }

  // The second number of a draw of large tables, which lies behind all first ones.
  uint32_t place(const uint32_t* high) const { return kLarge ? high[kMostRows * row_] : 0; }

  HWY_INLINE int choose(const Stacks& stacks, int m, uint64_t depth, uint32_t high,
                        uint32_t place) const {
    const int count = tables_.n + 1;
    const size_t at = static_cast<size_t>(m) * static_cast<size_t>(count);
    const int chosen = kLarge ? choose_large_alias_by_high(tables_.heads_of(m), count, high, place)
                              : choose_alias_by_high(tables_.heads.first + at, count, high);
    return HWY_LIKELY(chosen >= 0) ? chosen : settle(stacks, m, depth);
  }
  int settle(const Stacks& stacks, int m, uint64_t depth) const {
    return stacks.choose(tables_.heads_of(m), tables_.n + 1, m, depth);
  }

  int choose_root(const Stacks& stacks) const {
    const int n = tables_.n;
    const uint32_t high = rows_ == 0 ? stacks.word(Purpose::kStack, 0, 0) : high_[0];
    const int chosen = n <= kMostPacked ? choose_alias_by_high(tables_.root.first, n, high) : -1;
    return chosen >= 0 ? chosen : stacks.choose(tables_.root, n, 0, 0);
  }

  // The draws of all words at depths 0 to rows_ - 1.
  void draw_rows(const Stacks& stacks) {
    const size_t blocks = row_ / 4;
    for (size_t i = 0; i < (kLarge ? 2 : 1); ++i) {
      const Purpose purpose = i == 0 ? Purpose::kStack : Purpose::kPlace;
      uint32_t* out = high_ + i * kMostRows * row_;
      for (uint32_t depth = 0; depth < rows_; depth += depths_at_once_) {
        for (uint32_t block = 0; block < blocks; block += kBlockLanes) {
          draw_blocks(stacks, *across_, depth, stack_counter(purpose, block, 0), out);
          out += 4 * kBlockLanes;
        }
      }
    }
  }

#if TAPROOT_POPS_IN_REGISTERS
  // Eight heads are chosen at once, so `ahead_` has heads in place of draws; -1 if one is open.
  static constexpr bool kGathers = !kLarge;
  __m256i choose_eight(__m512i high, __m512i word, __mmask8 valid) const {
    __m256i heads;
    const __mmask8 open = choose_lanes(tables_.heads.first, static_cast<uint32_t>(tables_.n + 1),
                                       high, word, valid, heads);
    return _mm256_mask_mov_epi32(heads, open, _mm256_set1_epi32(-1));
  }
#else
  static constexpr bool kGathers = false;
#endif

  // The heads of all words at depth 0.
  void choose_first(const Stacks& stacks, int32_t* HWY_RESTRICT heads) const {
    const int n = tables_.n;
#if TAPROOT_POPS_IN_REGISTERS
    for (int m = 1; kGathers && m <= n; m += 8) {
      const auto valid = static_cast<__mmask8>(n - m >= 7 ? 0xff : (2U << (n - m)) - 1);
      const __m512i word = _mm512_add_epi64(_mm512_set1_epi64(m), lane_numbers());
      const __m512i high =
          _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(high_ + m)));
      const __m256i chosen = choose_eight(high, word, valid);
      _mm256_mask_storeu_epi32(heads + m - 1, valid, chosen);
      uint32_t open = _mm256_movepi32_mask(chosen) & valid;
      for (; HWY_UNLIKELY(open != 0); open &= open - 1) {
        const int at = m + std::countr_zero(open);
        heads[at - 1] = settle(stacks, at, 0);
      }
    }
    if (kGathers) return;
#endif
    for (int m = 1; m <= n; ++m) {
      heads[m - 1] = choose(stacks, m, 0, high_[m], place(high_ + m));
    }
  }

  // The head of word m at a depth that begins a batch. The depths of a batch differ in their last
  // bits only.
  HWY_NOINLINE int draw_deep(const Stacks& stacks, int m, uint64_t depth) {
    uint32_t* high = row_ahead(m);
#if TAPROOT_POPS_IN_REGISTERS
    if (kGathers) {
      const auto block = static_cast<uint32_t>(m) / 4;
      const FourWords w = philox_lanes(
          stacks.key,
          _mm512_add_epi64(_mm512_set1_epi64(static_cast<uint32_t>(depth - depth % kBlockLanes)),
                           lane_numbers()),
          _mm512_set1_epi64(stacks.sample),
          _mm512_set1_epi64(stack_counter(Purpose::kStack, block, depth)));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(high),
                          choose_eight(w.x[m % 4], _mm512_set1_epi64(m), 0xff));
      return choose_deep(stacks, m, depth);
    }
#endif
    for (size_t i = 0; i < (kLarge ? 2 : 1); ++i) {
      uint32_t words[4 * kBlockLanes];
      draw_blocks(stacks, kAlong, static_cast<uint32_t>(depth - depth % kBlockLanes),
                  stack_counter(i == 0 ? Purpose::kStack : Purpose::kPlace,
                                static_cast<uint32_t>(m) / 4, depth),
                  words);
      for (size_t j = 0; j < kBlockLanes; ++j) {
        high[i * kBlockLanes + j] = words[4 * j + static_cast<size_t>(m) % 4];
      }
    }
    return choose_deep(stacks, m, depth);
  }

  PopTables tables_;
  WalkLimits limits_;
  Interrupt* interrupt_;
  const BlockLanes* across_;
  int32_t trap_ = 0;
  uint32_t rows_ = kMostRows;
  uint32_t depths_at_once_;
  size_t row_;  // In words.
  uint32_t* high_;
  uint32_t* ahead_;
  uint64_t* depth_;
  int32_t* color_;
  uint64_t popped_ = 0;
  uint64_t most_popped_ = 0;
};

HWY_INLINE bool has_long_cycles(const PopRequest& request) {
  return request.trap != nullptr && *request.trap == kLongCycles;
}

template <bool kLarge>
static void pop_singly(const PopRequest& r, PopScratch& scratch, Interrupt* interrupt) {
  Cycles<kLarge> cycles(r, scratch, interrupt);
  const bool learns = r.way == PopWay::kGiveUp && r.trap != nullptr;
  if (r.way == PopWay::kGiveUp && !has_long_cycles(r)) cycles.expect_trap(learns ? *r.trap : 0);
  for (int t = 0; t < r.count; ++t) {
    r.steps[t] = cycles.sample({r.key, r.samples[t]}, r.heads + t * r.stride, r.roots[t]);
    cycles.expect_as_before(r.steps[t]);
  }
  if (learns) *r.trap = cycles.trap();
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SAMPLE_WALK_CYCLES_INL_H_
