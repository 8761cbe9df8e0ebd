// SPDX-License-Identifier: Apache-2.0
//
// Wilson's walk with its heads chosen ahead, for sentences of any length. The walk waits for none
// of its random numbers and tables: when it leaves a word, it chooses that word's next head in case
// it comes back. Files that use hwy/foreach_target.h include this once per target, so it has a
// guard that toggles in place of #pragma once.
#if defined(TAPROOT_SAMPLE_WALK_WALK_AHEAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SAMPLE_WALK_WALK_AHEAD_INL_H_
#undef TAPROOT_SAMPLE_WALK_WALK_AHEAD_INL_H_
#else
#define TAPROOT_SAMPLE_WALK_WALK_AHEAD_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "sample/walk/draw_blocks-inl.h"
#include "sample/walk/pop.h"
#include "sample/walk/pop_scratch.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// kLarge: the tables have more than kMostPacked entries.
template <bool kLarge>
class WalkAhead {
 public:
  WalkAhead(const PopRequest& request, PopScratch& scratch, Interrupt* interrupt)
      : tables_(request.tables), limits_(request.limits), interrupt_(interrupt) {
    const size_t nodes = static_cast<size_t>(tables_.n) + 1;
    // The blocks of short sentences at several depths share a vector.
    const uint32_t depths = nodes <= 8 ? 4 : nodes <= 16 ? 2 : 1;
    const uint32_t blocks = kBlockLanes / depths;
    for (uint32_t i = 0; i < kBlockLanes; ++i) {
      across_.depth[i] = i / blocks;
      across_.counter[i] = i % blocks << 8;
      along_.depth[i] = i;
      along_.counter[i] = 0;
    }
    depths_at_once_ = depths;
    row_ = (nodes + 4 * blocks - 1) / (4 * blocks) * (4 * blocks);
    high_ = scratch.high.resize((kLarge ? 2 : 1) * kRows * row_);
    ahead_ = scratch.ahead.resize((kLarge ? 2 : 1) * nodes * kBlockLanes);
    taken_ = scratch.taken.resize(nodes);
    next_ = scratch.next.resize(nodes);
    in_tree_ = scratch.in_tree.resize(nodes);
  }

  // Returns the number of heads; kGivenUp beyond the limits.
  uint64_t sample(const Stacks& stacks, int32_t* heads, int32_t& root) {
    const int n = tables_.n;
    draw_rows(stacks);
    root = tables_.root.first == nullptr ? 0 : 1 + choose_root(stacks);
    for (int m = 1; m <= n; ++m) {
      next_[m] = m == root ? 0 : choose(stacks, m, 0, high_[m], place(high_ + m));
    }
    std::fill(taken_, taken_ + n + 1, uint64_t{0});
    std::fill(in_tree_, in_tree_ + n + 1, uint8_t{0});
    in_tree_[root] = 1;
    if (root != 0) heads[root - 1] = 0;
    Place place;
    uint64_t steps = 0;
    while (!go_on(stacks, std::min(limits_.steps, steps + kStepsBetween), heads, place, steps)) {
      if (place.given_up || steps == limits_.steps) return kGivenUp;
      check(interrupt_);
    }
    return steps;
  }

 private:
  // Rows of draws that are made for all words at once. Draws of one word beyond come in batches.
  static constexpr uint32_t kRows = 4;
  // A walk may take longer than anybody lives: it asks now and then whether to go on.
  static constexpr uint64_t kStepsBetween = uint64_t{1} << 16;
  static constexpr int32_t kUnknown = -1;

  // Where the walk stands: the word it began at, and the node it has reached.
  struct Place {
    int start = 1;
    int node = 1;
    bool given_up = false;
  };

  bool go_on(const Stacks& stacks, uint64_t limit, int32_t* HWY_RESTRICT heads, Place& place,
             uint64_t& steps) {
    const int n = tables_.n;
    const uint64_t most = limits_.heads_of_a_word;
    uint64_t* HWY_RESTRICT taken = taken_;
    int32_t* HWY_RESTRICT next = next_;
    uint8_t* HWY_RESTRICT in_tree = in_tree_;
    uint64_t count = steps;
    int node = place.node;
    for (int start = place.start; start <= n; node = ++start) {
      while (in_tree[node] == 0) {
        const uint64_t depth = taken[node];
        if (HWY_UNLIKELY(count == limit || depth == most)) {
          steps = count;
          place = {start, node, depth == most};
          return false;
        }
        ++count;
        taken[node] = depth + 1;
        int head = next[node];
        if (HWY_UNLIKELY(head == kUnknown)) head = draw_deep(stacks, node, depth);
        heads[node - 1] = head;  // A walk that returns overwrites this, which erases its loop.
        next[node] = choose_next(stacks, node, depth + 1);
        node = head;
      }
      for (node = start; in_tree[node] == 0; node = heads[node - 1]) in_tree[node] = 1;
    }
    steps = count;
    return true;
  }

  // The head of word m at a depth that it has not reached, if the draw has been made.
  HWY_INLINE int choose_next(const Stacks& stacks, int m, uint64_t depth) const {
    if (HWY_LIKELY(depth < kRows)) {
      const uint32_t* draw = high_ + depth * row_ + static_cast<size_t>(m);
      return choose(stacks, m, depth, *draw, place(draw));
    }
    if (begins_batch(depth)) return kUnknown;
    return choose_deep(stacks, m, depth);
  }
  static bool begins_batch(uint64_t depth) { return depth == kRows || depth % kBlockLanes == 0; }
  int choose_deep(const Stacks& stacks, int m, uint64_t depth) const {
    const uint32_t* high = row_ahead(m) + depth % kBlockLanes;
    return choose(stacks, m, depth, *high, kLarge ? high[kBlockLanes] : 0);
  }
  uint32_t* row_ahead(int m) const {
    return ahead_ + static_cast<size_t>(m) * kBlockLanes * (kLarge ? 2 : 1);
  }

  // The second number of a draw of large tables, which lies behind all first ones.
  uint32_t place(const uint32_t* high) const { return kLarge ? high[kRows * row_] : 0; }

  HWY_INLINE int choose(const Stacks& stacks, int m, uint64_t depth, uint32_t high,
                        uint32_t place) const {
    const int count = tables_.n + 1;
    const size_t at = static_cast<size_t>(m) * static_cast<size_t>(count);
    const int chosen = kLarge ? choose_large_alias_by_high(tables_.heads_of(m), count, high, place)
                              : choose_alias_by_high(tables_.heads.first + at, count, high);
    if (HWY_LIKELY(chosen >= 0)) return chosen;
    return stacks.choose(tables_.heads_of(m), count, m, depth);
  }

  int choose_root(const Stacks& stacks) const {
    const int n = tables_.n;
    const int chosen =
        n <= kMostPacked ? choose_alias_by_high(tables_.root.first, n, high_[0]) : -1;
    return chosen >= 0 ? chosen : stacks.choose(tables_.root, n, 0, 0);
  }

  // The draws of all words at depths 0 to kRows - 1.
  void draw_rows(const Stacks& stacks) {
    const size_t blocks = row_ / 4;
    uint32_t* out = high_;
    for (int i = 0; i < (kLarge ? 2 : 1); ++i) {
      const Purpose purpose = i == 0 ? Purpose::kStack : Purpose::kPlace;
      for (uint32_t depth = 0; depth < kRows; depth += depths_at_once_) {
        for (uint32_t block = 0; block < blocks; block += kBlockLanes) {
          draw_blocks(stacks, across_, depth, stack_counter(purpose, block, 0), out);
          out += 4 * kBlockLanes;
        }
      }
    }
  }

  // The head of word m at a depth that begins a batch. The depths of a batch differ in their last
  // bits only.
  HWY_NOINLINE int draw_deep(const Stacks& stacks, int m, uint64_t depth) {
    uint32_t* high = row_ahead(m);
    for (size_t i = 0; i < (kLarge ? 2 : 1); ++i) {
      uint32_t words[4 * kBlockLanes];
      draw_blocks(stacks, along_, static_cast<uint32_t>(depth - depth % kBlockLanes),
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
  BlockLanes across_;  // Neighboring blocks, then the next depth.
  BlockLanes along_;   // One block at neighboring depths.
  uint32_t depths_at_once_;
  size_t row_;  // In words.
  uint32_t* high_;
  uint32_t* ahead_;
  uint64_t* taken_;
  int32_t* next_;
  uint8_t* in_tree_;
};

template <bool kLarge>
static void walk_ahead(const PopRequest& r, PopScratch& scratch, Interrupt* interrupt) {
  WalkAhead<kLarge> walk(r, scratch, interrupt);
  for (int t = 0; t < r.count; ++t) {
    r.steps[t] = walk.sample({r.key, r.samples[t]}, r.heads + t * r.stride, r.roots[t]);
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SAMPLE_WALK_WALK_AHEAD_INL_H_
