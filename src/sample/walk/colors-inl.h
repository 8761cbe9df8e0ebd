// SPDX-License-Identifier: Apache-2.0
//
// Popping in rounds for sentences of any length: heads come in vectors, and colors find the cycles.
// Files that use hwy/foreach_target.h include this once per target, so it has a guard that toggles
// in place of #pragma once.
#if defined(TAPROOT_SAMPLE_WALK_COLORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SAMPLE_WALK_COLORS_INL_H_
#undef TAPROOT_SAMPLE_WALK_COLORS_INL_H_
#else
#define TAPROOT_SAMPLE_WALK_COLORS_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "sample/walk/draw_blocks-inl.h"
#include "sample/walk/pop.h"
#include "sample/walk/pop_scratch.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// What every tree of a sentence has in common.
template <bool kLarge>
class Colors {
 public:
  Colors(const PopRequest& request, PopScratch& scratch, Interrupt* interrupt)
      : tables_(request.tables),
        n_(request.tables.n),
        count_(n_ + 1),
        limits_(request.limits),
        interrupt_(interrupt) {
    const auto nodes = static_cast<size_t>(count_);
    color_ = scratch.color.resize(nodes);
    depth_ = scratch.depth.resize(nodes);
    list_ = scratch.list.resize(2 * nodes);
    ahead_ = scratch.ahead.resize(nodes * PopScratch::kAhead);
    waiting_ = scratch.waiting.resize(nodes);
  }

  // Returns the number of heads; kGivenUp beyond the limits.
  uint64_t sample(const Stacks& stacks, int32_t* heads, int32_t& root) {
    heads_ = heads - 1;
    std::fill(color_, color_ + count_, 0U);
    std::fill(depth_, depth_ + count_, uint64_t{0});
    std::fill(waiting_, waiting_ + count_, uint8_t{0});
    color_of_round_ = 1;
    root = draw_first(stacks);
    color_[root] = kFinal;
    int32_t* list = list_;
    int32_t* next = list_ + n_;
    int size = 0;
    for (int m = 1; m <= n_; ++m) {
      if (m != root) list[size++] = m;
    }
    auto taken = static_cast<uint64_t>(size);
    if (taken > limits_.steps) return kGivenUp;
    for (uint64_t checked = 0;;) {
      size = find_cycles(list, size, next);
      if (size == 0) return taken;
      taken += static_cast<uint64_t>(size);
      if (taken > limits_.steps) return kGivenUp;
      for (int i = 0; i < size; ++i) {
        if (++depth_[next[i]] == limits_.heads_of_a_word) return kGivenUp;
      }
      draw_next(stacks, next, size, list);
      std::swap(list, next);
      if (taken - checked > kStepsBetween) {
        check(interrupt_);
        checked = taken;
      }
    }
  }

 private:
  // Words that are known to reach the root. The other colors grow, so those of earlier rounds are
  // below color_of_round_.
  static constexpr uint32_t kFinal = ~0U;
  static constexpr uint64_t kStepsBetween = uint64_t{1} << 16;

  int choose(const Stacks& stacks, const AliasTable& table, int count, int m, uint64_t depth,
             uint32_t high, uint32_t place) const {
    const int chosen = kLarge ? choose_large_alias_by_high(table, count, high, place)
                              : choose_alias_by_high(table.first, count, high);
    return HWY_LIKELY(chosen >= 0) ? chosen : stacks.choose(table, count, m, depth);
  }

  // The heads of all words at depth 0; returns the root, whose head is 0.
  int draw_first(const Stacks& stacks) {
    BlockPlaces places;
    BlockWords high;
    BlockWords place{};
    int root = 0;
    for (int first = 0; first <= n_; first += 4 * kBlockLanes) {
      draw_row(stacks, Purpose::kStack, first / 4, places, high);
      if (kLarge) draw_row(stacks, Purpose::kPlace, first / 4, places, place);
      if (first == 0 && tables_.root.first != nullptr) {
        root = 1 + choose_root(stacks, high.words[0][0]);
        heads_[root] = 0;
      }
      const int last = std::min(n_, first + 4 * kBlockLanes - 1);
      for (int m = std::max(first, 1); m <= last; ++m) {
        if (m == root) continue;
        const int lane = m / 4 - first / 4;
        heads_[m] = choose(stacks, tables_.heads_of(m), count_, m, 0, high.words[m % 4][lane],
                           place.words[m % 4][lane]);
      }
    }
    return root;
  }

  int choose_root(const Stacks& stacks, uint32_t high) const {
    const int chosen = n_ <= kMostPacked ? choose_alias_by_high(tables_.root.first, n_, high) : -1;
    return chosen >= 0 ? chosen : stacks.choose(tables_.root, n_, 0, 0);
  }

  static void draw_row(const Stacks& stacks, Purpose purpose, int first, BlockPlaces& places,
                       BlockWords& out) {
    for (int i = 0; i < kBlockLanes; ++i) {
      places.set(i, purpose, static_cast<uint32_t>(first + i), 0);
    }
    draw_blocks(stacks, places, out);
  }

  // New heads for the words of `list`, those ahead first. `needy` is scratch.
  void draw_next(const Stacks& stacks, const int32_t* list, int size, int32_t* needy) {
    int needs = 0;
    for (int i = 0; i < size; ++i) {
      const int m = list[i];
      if (waiting_[m] > 0) {
        heads_[m] = row_ahead(m)[-static_cast<int>(waiting_[m]--)];
      } else {
        needy[needs++] = m;
      }
    }
    // A block serves one word and one depth. Few words leave lanes free for depths to come.
    for (int i = 0; i < needs; i += kBlockLanes) {
      const int words = std::min(needs - i, kBlockLanes);
      draw_few(stacks, needy + i, words, kBlockLanes / words);
    }
  }

  void draw_few(const Stacks& stacks, const int32_t* list, int words, int depths) {
    BlockPlaces places;
    BlockWords high;
    BlockWords place{};
    const auto draw = [&](Purpose purpose, BlockWords& out) {
      for (int i = 0; i < kBlockLanes; ++i) {
        const int m = list[i < words * depths ? i / depths : 0];
        places.set(i, purpose, static_cast<uint32_t>(m) / 4,
                   depth_[m] + static_cast<uint64_t>(i % depths));
      }
      draw_blocks(stacks, places, out);
    };
    draw(Purpose::kStack, high);
    if (kLarge) draw(Purpose::kPlace, place);
    for (int i = 0, lane = 0; i < words; ++i) {
      const int m = list[i];
      for (int j = 0; j < depths; ++j, ++lane) {
        const int head =
            choose(stacks, tables_.heads_of(m), count_, m, depth_[m] + static_cast<uint64_t>(j),
                   high.words[m % 4][lane], place.words[m % 4][lane]);
        if (j == 0) {
          heads_[m] = head;
        } else {
          row_ahead(m)[j - depths] = head;
        }
      }
      waiting_[m] = static_cast<uint8_t>(depths - 1);
    }
  }

  // Every new cycle goes through a word of `list`. Follows the heads of these words until they
  // meet a word that reaches the root, or a color of this round. Writes the words on cycles to
  // `next` and returns how many there are.
  int find_cycles(const int32_t* list, int size, int32_t* next) {
    int found = 0;
    uint32_t color = color_of_round_;
    if (HWY_UNLIKELY(color > kFinal - static_cast<uint32_t>(count_))) {  // The colors are used up.
      for (int m = 0; m <= n_; ++m) color_[m] = color_[m] == kFinal ? kFinal : 0;
      color = color_of_round_ = 1;
    }
    for (int i = 0; i < size; ++i) {
      const int start = list[i];
      if (color_[start] >= color_of_round_) continue;
      int node = start;
      for (; color_[node] < color_of_round_; node = heads_[node]) color_[node] = color;
      if (color_[node] == kFinal) {
        for (node = start; color_[node] != kFinal; node = heads_[node]) color_[node] = kFinal;
      } else if (color_[node] == color) {
        int on_cycle = node;
        do {
          next[found++] = on_cycle;
          on_cycle = heads_[on_cycle];
        } while (on_cycle != node);
      }
      ++color;
    }
    color_of_round_ = color;
    return found;
  }

  int32_t* row_ahead(int m) const {
    return ahead_ + (static_cast<size_t>(m) + 1) * PopScratch::kAhead;
  }

  PopTables tables_;
  int n_;
  int count_;
  WalkLimits limits_;
  Interrupt* interrupt_;
  int32_t* heads_ = nullptr;  // Word m at m; nobody reads that of ROOT.
  uint32_t* color_;
  uint64_t* depth_;
  int32_t* list_;
  int32_t* ahead_;  // Rows end at row_ahead().
  uint8_t* waiting_;
  uint32_t color_of_round_ = 1;
};

template <bool kLarge>
static void pop_by_colors(const PopRequest& r, PopScratch& scratch, Interrupt* interrupt) {
  Colors<kLarge> colors(r, scratch, interrupt);
  for (int t = 0; t < r.count; ++t) {
    r.steps[t] = colors.sample({r.key, r.samples[t]}, r.heads + t * r.stride, r.roots[t]);
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_SAMPLE_WALK_COLORS_INL_H_
