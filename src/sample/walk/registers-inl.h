// SPDX-License-Identifier: Apache-2.0
//
// Popping in registers, for sentences of up to 255 words, where the processor permutes bytes
// (AVX-512 VBMI2). Files that use hwy/foreach_target.h include this once per target, so it has a
// guard that toggles in place of #pragma once.
#if defined(TAPROOT_SAMPLE_WALK_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SAMPLE_WALK_REGISTERS_INL_H_
#undef TAPROOT_SAMPLE_WALK_REGISTERS_INL_H_
#else
#define TAPROOT_SAMPLE_WALK_REGISTERS_INL_H_
#endif

#include "hwy/highway.h"
#include "sample/walk/cycles-inl.h"
#include "sample/walk/permute-inl.h"
#include "sample/walk/pop.h"

#if TAPROOT_POPS_IN_REGISTERS
#include <bit>

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// The steps of a tree that needs more rounds than depths in bytes allow.
inline constexpr uint64_t kUnfinished = kGivenUp - 1;

// Slots of one byte each, 64 to a register. Tree t has the slots from t * kSlots on: word m of it
// has slot t * kSlots + m. The head of a slot is a slot of the same tree.
template <int kTrees, int kRegisters>
class Registers {
 public:
  static constexpr int kSlots = 64 * kRegisters / kTrees;

  Registers(const PopRequest& request) : r_(request), n_(r_.tables.n) {
    count_ = static_cast<uint32_t>(n_ + 1);
    first_check_ = limit_of_rounds() < kUsualRounds ? limit_of_rounds() : kUsualRounds;
    alignas(64) uint8_t iota[64 * kRegisters];
    for (int i = 0; i < 64 * kRegisters; ++i) iota[i] = static_cast<uint8_t>(i);
    for (int i = 0; i < kRegisters; ++i) {
      iota_[i] = _mm512_load_si512(iota + 64 * i);
      base_[i] = _mm512_and_si512(iota_[i], _mm512_set1_epi8(static_cast<char>(-kSlots)));
      const __m512i words = _mm512_sub_epi8(iota_[i], base_[i]);
      real_[i] = _mm512_cmpgt_epu8_mask(words, _mm512_setzero_si512()) &
                 _mm512_cmple_epu8_mask(words, _mm512_set1_epi8(static_cast<char>(n_)));
    }
    for (int i = 0; i < kTrees; ++i) samples_[i] = r_.samples[i < r_.count ? i : 0];
  }

  // Returns false if a tree is unfinished.
  bool sample() {
    draw_first();
    __m512i depth[kRegisters];
    for (__m512i& d : depth) d = _mm512_setzero_si512();
    uint64_t lost[kRegisters] = {};  // The slots of trees that were given up.
    for (uint64_t round = 1;; ++round) {
      uint64_t popped[kRegisters];
      if (!find_cycles(popped)) break;
      for (int i = 0; i < kRegisters; ++i) {
        popped[i] &= ~lost[i];
        depth[i] = _mm512_mask_add_epi8(depth[i], popped[i], depth[i], _mm512_set1_epi8(1));
      }
      if (HWY_UNLIKELY(round >= first_check_)) {
        give_up(depth, lost);
        for (int i = 0; i < kRegisters; ++i) popped[i] &= ~lost[i];
      }
      bool any = false;
      for (int i = 0; i < kRegisters; i += 2) {
        for (; (popped[i] | popped[i + 1]) != 0; any = true) draw_some(i, depth, popped);
      }
      if (!any) break;
    }
    return finish(depth, lost);
  }

 private:
  // Depths are bytes.
  static constexpr uint64_t kMostRounds = 250;
  // Few trees take more rounds than this, unless all their words attract each other. Whether such a
  // tree is beyond its limits is looked at in each round.
  static constexpr uint64_t kUsualRounds = 6;
  uint64_t limit_of_rounds() const {
    return r_.limits.heads_of_a_word < kMostRounds ? r_.limits.heads_of_a_word : kMostRounds;
  }

  // All heads at depth 0, and the roots.
  void draw_first() {
    alignas(64) uint32_t roots_high[kTrees] = {};
    uint64_t open_count = 0;
    alignas(64) __mmask8 open[2 * kRegisters][4];
    __m256i bytes[2 * kRegisters];
    const int blocks = (static_cast<int>(count_) + 3) / 4;
    for (int v = 0; v < 2 * kRegisters; ++v) {
      // Vector v has blocks 8v..8v+7 of the slots; kSlots / 4 of them belong to one tree.
      constexpr int kBlocks = kSlots / 4;
      const int first_tree = 8 * v / kBlocks;
      const int first_block = 8 * v % kBlocks;
      bytes[v] = _mm256_setzero_si256();
      for (int e = 0; e < 4; ++e) open[v][e] = 0;
      if (first_tree >= r_.count || first_block >= blocks) continue;
      const __m512i lane = _mm512_add_epi64(_mm512_set1_epi64(8 * v), lane_numbers());
      const __m512i tree = _mm512_srli_epi64(lane, std::countr_zero(unsigned{kBlocks}));
      const __m512i block = _mm512_and_si512(lane, _mm512_set1_epi64(kBlocks - 1));
      const FourWords w =
          philox_lanes(r_.key, _mm512_setzero_si512(), samples_of(tree),
                       _mm512_or_si512(_mm512_slli_epi64(block, 8),
                                       _mm512_set1_epi64(static_cast<int64_t>(Purpose::kStack))));
      for (int e = 0; e < 4; ++e) {
        const __m512i word = _mm512_add_epi64(_mm512_slli_epi64(block, 2), _mm512_set1_epi64(e));
        const __mmask8 valid = _mm512_cmple_epu64_mask(word, _mm512_set1_epi64(n_));
        __m256i heads;
        open[v][e] = choose_lanes(r_.tables.heads.first, count_, w.x[e], word, valid, heads);
        open_count += open[v][e];
        bytes[v] = _mm256_or_si256(bytes[v], _mm256_slli_epi32(heads, 8 * e));
      }
      if (first_block == 0) {
        alignas(32) uint32_t high[8];
        _mm256_store_si256(reinterpret_cast<__m256i*>(high), _mm512_cvtepi64_epi32(w.x[0]));
        for (int i = 0; i < 8; i += kBlocks) {
          const int t = first_tree + i / kBlocks;
          roots_high[t < kTrees ? t : 0] = high[i];
        }
      }
    }
    for (int i = 0; i < kRegisters; ++i) {
      heads_[i] = _mm512_inserti64x4(_mm512_castsi256_si512(bytes[2 * i]), bytes[2 * i + 1], 1);
    }
    if (HWY_UNLIKELY(open_count != 0)) settle_first(open);
    set_roots(roots_high);
  }

  // The choices that the high halves have left open, by the definition. Word 0 is among them where
  // its row, which nobody reads, happens to be.
  HWY_NOINLINE void settle_first(const __mmask8 (&open)[2 * kRegisters][4]) {
    alignas(64) uint8_t heads[64 * kRegisters];
    store(heads);
    for (int slot = 0; slot < 64 * kRegisters; ++slot) {
      if ((open[slot / 32][slot % 4] >> (slot / 4 % 8) & 1) == 0) continue;
      heads[slot] = settle(slot, 0);
    }
    load(heads);
  }

  uint8_t settle(int slot, uint64_t depth) const {
    const int m = slot % kSlots;
    if (m == 0) return 0;
    const Stacks stacks{r_.key, samples_[slot / kSlots]};
    return static_cast<uint8_t>(
        stacks.choose(r_.tables.heads_of(m), static_cast<int>(count_), m, depth));
  }

  // Every slot that is not a word other than the root has the root as its head.
  void set_roots(const uint32_t* high) {
    alignas(64) uint8_t root_slots[64] = {};
    for (uint64_t& root : root_) root = 0;
    for (int t = 0; t < kTrees; ++t) {
      int root = 0;
      if (t < r_.count) {
        if (r_.tables.root.first != nullptr) {
          int chosen = choose_alias_by_high(r_.tables.root.first, n_, high[t]);
          if (HWY_UNLIKELY(chosen < 0)) {
            chosen = Stacks{r_.key, samples_[t]}.choose(r_.tables.root, n_, 0, 0);
          }
          root = chosen + 1;
        }
        r_.roots[t] = root;
      }
      const int slot = t * kSlots + root;
      root_slots[t] = static_cast<uint8_t>(slot);
      root_[slot / 64] |= uint64_t{1} << slot % 64;
    }
    const __m512i roots = _mm512_load_si512(root_slots);
    for (int i = 0; i < kRegisters; ++i) {
      // Trees beyond count consist of roots.
      uint64_t words = real_[i] & ~root_[i];
      const int slots = r_.count * kSlots - 64 * i;
      words &= slots >= 64 ? ~uint64_t{0} : slots <= 0 ? 0 : (uint64_t{1} << slots) - 1;
      words_[i] = words;
      const __m512i tree =
          _mm512_and_si512(_mm512_srli_epi16(iota_[i], std::countr_zero(unsigned{kSlots})),
                           _mm512_set1_epi8(kTrees - 1));
      root_of_[i] = _mm512_permutexvar_epi8(tree, roots);
      heads_[i] = _mm512_mask_add_epi8(root_of_[i], words, heads_[i], base_[i]);
    }
  }

  // The slots on cycles; false if there are none. Squares the function until every image is a root
  // or on a cycle: the words on cycles are the images.
  HWY_INLINE bool find_cycles(uint64_t* popped) const {
    __m512i f[kRegisters];
    for (int i = 0; i < kRegisters; ++i) f[i] = heads_[i];
    for (int length = 1; length < kSlots; length *= 2) square<kSlots>(f);
    uint64_t lost = 0;
    for (int i = 0; i < kRegisters; ++i) lost |= _mm512_cmpneq_epi8_mask(f[i], root_of_[i]);
    if (lost == 0) return false;
    collect_images<kSlots>(f, popped);
    for (int i = 0; i < kRegisters; ++i) popped[i] &= ~root_[i];
    return true;
  }

  // New heads for up to sixteen popped slots of two neighboring registers, which it removes from
  // `popped`.
  HWY_INLINE void draw_some(int at, const __m512i* depth, uint64_t* popped) {
    const uint64_t set0 = _pdep_u64(0xffff, popped[at]);
    const int in0 = std::popcount(set0);
    const uint64_t set1 = _pdep_u64(0xffffU >> in0, popped[at + 1]);
    const int size = in0 + std::popcount(set1);
    popped[at] &= ~set0;
    popped[at + 1] &= ~set1;
    const __m128i iota = _mm512_castsi512_si128(iota_[0]);
    const __m128i shift = _mm_set1_epi8(static_cast<char>(in0));
    const __m128i slots0 = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(set0, iota_[at]));
    const __m128i slots1 = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(set1, iota_[at + 1]));
    const __m128i slots = _mm_or_si128(slots0, _mm_shuffle_epi8(slots1, _mm_sub_epi8(iota, shift)));
    const __m128i depths = _mm512_castsi512_si128(
        _mm512_permutex2var_epi8(depth[at], _mm512_castsi128_si512(slots), depth[at + 1]));
    __m128i heads = draw_eight(slots, depths, size);
    if (size > 8) {
      const __m128i more =
          draw_eight(_mm_srli_si128(slots, 8), _mm_srli_si128(depths, 8), size - 8);
      heads = _mm_unpacklo_epi64(heads, more);
    }
    heads_[at] = _mm512_mask_expand_epi8(heads_[at], set0, _mm512_castsi128_si512(heads));
    const __m128i rest = _mm_shuffle_epi8(heads, _mm_add_epi8(iota, shift));
    heads_[at + 1] = _mm512_mask_expand_epi8(heads_[at + 1], set1, _mm512_castsi128_si512(rest));
  }

  HWY_INLINE __m128i draw_eight(__m128i slots8, __m128i depths8, int size) const {
    const __m512i slots = _mm512_cvtepu8_epi64(slots8);
    const __m512i word = _mm512_and_si512(slots, _mm512_set1_epi64(kSlots - 1));
    const __m512i tree = _mm512_srli_epi64(slots, std::countr_zero(unsigned{kSlots}));
    const __m512i counter =
        _mm512_or_si512(_mm512_slli_epi64(_mm512_srli_epi64(word, 2), 8),
                        _mm512_set1_epi64(static_cast<int64_t>(Purpose::kStack)));
    const FourWords w =
        philox_lanes(r_.key, _mm512_cvtepu8_epi64(depths8), samples_of(tree), counter);
    const __mmask8 odd = _mm512_test_epi64_mask(word, _mm512_set1_epi64(1));
    const __mmask8 upper = _mm512_test_epi64_mask(word, _mm512_set1_epi64(2));
    const __m512i high = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(w.x[0], odd, w.x[1]), upper,
                                               _mm512_mask_mov_epi64(w.x[2], odd, w.x[3]));
    const auto valid = static_cast<__mmask8>(size >= 8 ? 0xff : (1U << size) - 1);
    __m256i heads;
    const __mmask8 open = choose_lanes(r_.tables.heads.first, count_, high, word, valid, heads);
    const __m256i base = _mm512_cvtepi64_epi32(_mm512_sub_epi64(slots, word));
    heads = _mm256_add_epi32(heads, base);
    if (HWY_UNLIKELY(open != 0)) return settle_some(slots8, depths8, heads, open);
    return _mm256_cvtepi32_epi8(heads);
  }

  HWY_NOINLINE __m128i settle_some(__m128i slots8, __m128i depths8, __m256i heads,
                                   __mmask8 open) const {
    alignas(16) uint8_t slots[16];
    alignas(16) uint8_t depths[16];
    alignas(16) uint8_t out[16];
    _mm_store_si128(reinterpret_cast<__m128i*>(slots), slots8);
    _mm_store_si128(reinterpret_cast<__m128i*>(depths), depths8);
    _mm_store_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtepi32_epi8(heads));
    for (int i = 0; i < 8; ++i) {
      if ((open >> i & 1) == 0) continue;
      out[i] = static_cast<uint8_t>(slots[i] / kSlots * kSlots + settle(slots[i], depths[i]));
    }
    return _mm_load_si128(reinterpret_cast<const __m128i*>(out));
  }

  // The number of heads of tree t, given how many heads each slot has lost, in sums of eight.
  uint64_t steps_of(int t, const uint64_t* sums) const {
    auto steps = static_cast<uint64_t>(n_ - (r_.roots[t] != 0 ? 1 : 0));
    for (int i = t * kSlots / 8; i < (t + 1) * kSlots / 8; ++i) steps += sums[i];
    return steps;
  }
  static void sum_up(const __m512i* depth, uint64_t* sums) {
    for (int i = 0; i < kRegisters; ++i) {
      _mm512_store_si512(sums + 8 * i, _mm512_sad_epu8(depth[i], _mm512_setzero_si512()));
    }
  }

  // Sets all bits in `lost` of each tree that took too many steps, or in which one word lost too
  // many heads.
  HWY_NOINLINE void give_up(const __m512i* depth, uint64_t* lost) const {
    alignas(64) uint64_t sums[8 * kRegisters];
    sum_up(depth, sums);
    const __m512i most = _mm512_set1_epi8(static_cast<char>(limit_of_rounds()));
    uint64_t deep[kRegisters];
    for (int i = 0; i < kRegisters; ++i) deep[i] = _mm512_cmpge_epu8_mask(depth[i], most);
    for (int t = 0; t < r_.count; ++t) {
      // The slots of a tree are within one register, or fill them all.
      const int at = t * kSlots / 64;
      uint64_t own = ~uint64_t{0};
      if (kSlots < 64) own = (own >> (64 - kSlots % 64)) << (t * kSlots % 64);
      const int end = kSlots <= 64 ? at + 1 : kRegisters;
      bool spent = steps_of(t, sums) > r_.limits.steps;
      for (int i = at; i < end; ++i) spent |= (deep[i] & own) != 0;
      for (int i = at; spent && i < end; ++i) lost[i] |= own;
    }
  }

  // Writes the trees and the number of their heads.
  bool finish(const __m512i* depth, const uint64_t* lost) const {
    bool finished = true;
    alignas(64) uint8_t heads[64 * kRegisters + 16];
    alignas(64) uint64_t sums[8 * kRegisters];
    sum_up(depth, sums);
    for (int i = 0; i < kRegisters; ++i) {
      _mm512_store_si512(heads + 64 * i, _mm512_maskz_sub_epi8(words_[i], heads_[i], base_[i]));
    }
    for (int t = 0; t < r_.count; ++t) {
      const int slot = t * kSlots;
      uint64_t steps = steps_of(t, sums);
      if (steps > r_.limits.steps) {
        steps = kGivenUp;
      } else if ((lost[slot / 64] >> slot % 64 & 1) != 0) {
        const bool spent = r_.limits.heads_of_a_word < kMostRounds;
        steps = spent ? kGivenUp : kUnfinished;
        finished &= spent;
      }
      r_.steps[t] = steps;
      int32_t* out = r_.heads + t * r_.stride;
      for (int m = 0; m < n_; m += 16) {
        const __m512i wide = _mm512_cvtepu8_epi32(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(heads + slot + 1 + m)));
        const auto valid = static_cast<__mmask16>(n_ - m >= 16 ? 0xffff : (1U << (n_ - m)) - 1);
        _mm512_mask_storeu_epi32(out + m, valid, wide);
      }
    }
    return finished;
  }

  void store(uint8_t* heads) const {
    for (int i = 0; i < kRegisters; ++i) _mm512_store_si512(heads + 64 * i, heads_[i]);
  }
  void load(const uint8_t* heads) {
    for (int i = 0; i < kRegisters; ++i) heads_[i] = _mm512_load_si512(heads + 64 * i);
  }

  HWY_INLINE __m512i samples_of(__m512i tree) const {
    if (kTrees == 1) return _mm512_set1_epi64(samples_[0]);
    return _mm512_permutexvar_epi32(tree, _mm512_load_si512(samples_));
  }

  PopRequest r_;
  int n_;
  uint32_t count_;
  uint64_t first_check_;
  alignas(64) uint32_t samples_[16] = {};
  __m512i iota_[kRegisters];
  __m512i base_[kRegisters];     // The slot of each slot's ROOT.
  __m512i root_of_[kRegisters];  // The slot of each slot's root.
  __m512i heads_[kRegisters];
  uint64_t real_[kRegisters];   // Slots of words.
  uint64_t words_[kRegisters];  // The same without roots, in trees that were asked for.
  uint64_t root_[kRegisters];
};

// Trees that outlive the registers are left to pop_singly().
template <int kTrees, int kRegisters>
static void pop_in_registers(const PopRequest& r, PopScratch& scratch, Interrupt* interrupt) {
  for (int t = 0; t < r.count; t += kTrees) {
    const int size = r.count - t < kTrees ? r.count - t : kTrees;
    if (Registers<kTrees, kRegisters>(r.part(t, size)).sample()) continue;
    for (int i = t; i < t + size; ++i) {
      if (r.steps[i] == kUnfinished) pop_singly<false>(r.part(i, 1), scratch, interrupt);
    }
  }
}

// Shorter sentences have more trees at once.
static void pop_in_registers_by_length(const PopRequest& r, PopScratch& scratch,
                                       Interrupt* interrupt) {
  const int n = r.tables.n;
  if (n <= 7) return pop_in_registers<16, 2>(r, scratch, interrupt);
  if (n <= 15) return pop_in_registers<8, 2>(r, scratch, interrupt);
  if (n <= 31) return pop_in_registers<4, 2>(r, scratch, interrupt);
  if (n <= 63) return pop_in_registers<2, 2>(r, scratch, interrupt);
  if (n <= 127) return pop_in_registers<1, 2>(r, scratch, interrupt);
  pop_in_registers<1, 4>(r, scratch, interrupt);
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TAPROOT_POPS_IN_REGISTERS

#endif  // TAPROOT_SAMPLE_WALK_REGISTERS_INL_H_
