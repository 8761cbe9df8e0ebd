// SPDX-License-Identifier: Apache-2.0
#include "core/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/random.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h: once per target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// Philox4x32-10 on eight counters side by side, in loops that compilers turn into vectors; the same
// numbers as Random123's, which the tests compare it with. The key comes as numbers, because behind
// a reference to a StreamKey gcc 12 does not see that its words have 32 bits, and the loops take
// five times as long.
static void philox(uint64_t seed, uint32_t word, uint32_t sample, uint32_t purpose, uint64_t first,
                   uint64_t* HWY_RESTRICT draws) {
  constexpr int kLanes = kPhiloxBatch;
  // Words of 32 bits in 64: the products need them.
  uint64_t x0[kLanes];
  uint64_t x1[kLanes];
  uint64_t x2[kLanes];
  uint64_t x3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t block = first + static_cast<uint64_t>(i);
    x0[i] = block & 0xffffffff;
    x1[i] = sample;
    x2[i] = word;
    x3[i] = purpose | (block >> 32 << 8 & 0xffffffff);
  }
  uint64_t key0 = seed & 0xffffffff;
  uint64_t key1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kLanes; ++i) {
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
  for (int i = 0; i < kLanes; ++i) {
    draws[2 * i] = x1[i] << 32 | x0[i];
    draws[2 * i + 1] = x3[i] << 32 | x2[i];
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot::detail {

HWY_EXPORT(philox);

void philox_batch(const StreamKey& key, std::uint32_t sample, Purpose purpose, std::uint64_t first,
                  std::uint64_t* draws) {
  HWY_DYNAMIC_DISPATCH(philox)
  (static_cast<uint64_t>(key.key[1]) << 32 | key.key[0], key.word, sample,
   static_cast<std::uint32_t>(purpose), first, draws);
}

}  // namespace taproot::detail
#endif  // HWY_ONCE
