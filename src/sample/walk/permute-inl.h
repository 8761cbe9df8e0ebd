// SPDX-License-Identifier: Apache-2.0
//
// What popping in registers is made of: random numbers, choices, and functions on bytes. Files that
// use hwy/foreach_target.h include this once per target, so it has a guard that toggles in place of
// #pragma once.
#if defined(TAPROOT_SAMPLE_WALK_PERMUTE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_SAMPLE_WALK_PERMUTE_INL_H_
#undef TAPROOT_SAMPLE_WALK_PERMUTE_INL_H_
#else
#define TAPROOT_SAMPLE_WALK_PERMUTE_INL_H_
#endif

#include "hwy/highway.h"
#include "sample/walk/stacks.h"

#undef TAPROOT_POPS_IN_REGISTERS
#define TAPROOT_POPS_IN_REGISTERS (HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86)

#if TAPROOT_POPS_IN_REGISTERS

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

HWY_INLINE __m512i lane_numbers() { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }

// The words of four blocks of the stacks; only the low 32 bits of each lane count.
struct FourWords {
  __m512i x[4];
};

// Philox4x32-10 on eight blocks.
HWY_INLINE FourWords philox_lanes(const StreamKey& key, __m512i depth, __m512i sample,
                                  __m512i counter) {
  const __m512i m0 = _mm512_set1_epi64(0xD2511F53);
  const __m512i m1 = _mm512_set1_epi64(0xCD9E8D57);
  FourWords w{{depth, sample, _mm512_set1_epi64(key.word), counter}};
  uint32_t key0 = key.key[0];
  uint32_t key1 = key.key[1];
  for (int round = 0; round < 10; ++round) {
    const __m512i p0 = _mm512_mul_epu32(w.x[0], m0);
    const __m512i p1 = _mm512_mul_epu32(w.x[2], m1);
    constexpr int kXor3 = 0x96;
    w.x[0] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), w.x[1], _mm512_set1_epi64(key0),
                                       kXor3);
    w.x[2] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), w.x[3], _mm512_set1_epi64(key1),
                                       kXor3);
    w.x[1] = p1;
    w.x[3] = p0;
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return w;
}

// Heads of eight words that need not be neighbors, from the high halves of their draws. Returns
// the lanes whose choice is open.
HWY_INLINE __mmask8 choose_lanes(const uint32_t* first, uint32_t table_size, __m512i high,
                                 __m512i word, __mmask8 valid, __m256i& heads) {
  const __m512i count = _mm512_set1_epi64(table_size);
  const __m512i product = _mm512_mul_epu32(high, count);
  const __m512i index = _mm512_srli_epi64(product, 32);
  const __m512i at = _mm512_add_epi64(_mm512_mul_epu32(word, count), index);
  const __m256i slot = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), valid, at, first, 4);
  const __m256i low = _mm512_cvtepi64_epi32(product);
  const __m256i top = _mm256_srli_epi32(low, 11);
  const __m256i threshold = _mm256_srli_epi32(slot, kAliasBits);
  const __mmask8 own = _mm256_cmplt_epu32_mask(top, threshold);
  const __mmask8 near =
      _mm256_cmple_epu32_mask(_mm256_sub_epi32(threshold, top), _mm256_set1_epi32(1));
  const __mmask8 carries =
      _mm256_cmpge_epu32_mask(low, _mm256_set1_epi32(static_cast<int>(0U - table_size)));
  const __m256i alias = _mm256_and_si256(slot, _mm256_set1_epi32(kAliasMask));
  heads = _mm256_mask_mov_epi32(alias, own, _mm512_cvtepi64_epi32(index));
  return static_cast<__mmask8>((near | carries) & valid);
}

// f after f, for functions on bytes. kSlots neighboring bytes are mapped among themselves: part of
// a register, or all registers.
template <int kSlots, int kRegisters>
HWY_INLINE void square(__m512i (&f)[kRegisters]) {
  __m512i image[kRegisters];
  for (int i = 0; i < kRegisters; ++i) {
    if (kSlots <= 64) {
      image[i] = _mm512_permutexvar_epi8(f[i], f[i]);
    } else {
      image[i] = _mm512_permutex2var_epi8(f[0], f[i], f[1]);
    }
    if (kSlots > 128) {
      image[i] = _mm512_mask_mov_epi8(
          image[i], _mm512_movepi8_mask(f[i]),
          _mm512_permutex2var_epi8(f[kRegisters - 2], f[i], f[kRegisters - 1]));
    }
  }
  for (int i = 0; i < kRegisters; ++i) f[i] = image[i];
}

// The images of f as sets of bits. Eight images at a time; a shift by 64 or more gives no bit.
template <int kSlots, int kRegisters>
HWY_INLINE void collect_images(const __m512i (&f)[kRegisters], uint64_t* sets) {
  __m512i bits[kRegisters];
  for (__m512i& b : bits) b = _mm512_setzero_si512();
  const __m512i one = _mm512_set1_epi64(1);
  constexpr __mmask64 kFirst = 0x0101010101010101;
  for (int k = 0; k < 8; ++k) {
    const __m512i spread = _mm512_add_epi64(lane_numbers(), _mm512_set1_epi64(8 * k));
    for (int i = 0; i < kRegisters; ++i) {
      const __m512i images = _mm512_maskz_permutexvar_epi8(kFirst, spread, f[i]);
      for (int j = 0; j < kRegisters; ++j) {
        if (kSlots <= 64 && i != j) continue;
        const __m512i shift = _mm512_sub_epi64(images, _mm512_set1_epi64(64 * j));
        bits[j] = _mm512_or_si512(bits[j], _mm512_sllv_epi64(one, shift));
      }
    }
  }
  for (int i = 0; i < kRegisters; ++i) {
    sets[i] = static_cast<uint64_t>(_mm512_reduce_or_epi64(bits[i]));
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TAPROOT_POPS_IN_REGISTERS

#endif  // TAPROOT_SAMPLE_WALK_PERMUTE_INL_H_
