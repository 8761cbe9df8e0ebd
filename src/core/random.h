// SPDX-License-Identifier: Apache-2.0
//
// Randomness as a pure function: draw d of sample s of sentence b under a seed is Philox4x32-10
// (Salmon et al. 2011) of the counter (d, s, b, purpose), whoever asks and in whatever order. A
// block of 128 bits holds two draws, so d counts blocks there; its high bits share a word with the
// purpose.
#pragma once

#include <Random123/philox.h>

#include <cmath>
#include <cstdint>

#include "core/host_device.h"

namespace taproot::detail {

/// Keeps streams apart that belong to one sample.
enum class Purpose : std::uint32_t { kTree = 0, kGumbel = 1, kKappa = 2, kBeam = 3, kLabel = 4 };

/// 64 random bits to a double, as pure functions so that every device computes the same.
/// [0, 1): multiples of 2^-53; 0 occurs, 1 does not.
TAPROOT_HOST_DEVICE inline double to_uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// [2^-66, 1/2): every double down to 2^-65 occurs with the probability of the interval it stands
/// for; those below stand for all that is smaller. A plain uniform would cut the tails of what is
/// made from it at 2^-53.
TAPROOT_HOST_DEVICE inline double to_small_uniform(std::uint64_t magnitude,
                                                   std::uint64_t fraction) {
  const auto exponent = static_cast<std::uint64_t>(1023 - 2 - leading_zeros(magnitude));
  return double_of_bits(exponent << 52 | fraction >> 12);
}

/// Exponential with mean 1, in [2^-66, 66 ln 2]: both tails are resolved relatively. The last bit
/// of `fraction` says on which side of the median it falls.
TAPROOT_HOST_DEVICE inline double to_exponential(std::uint64_t magnitude, std::uint64_t fraction) {
  const double u = to_small_uniform(magnitude, fraction);
  return (fraction & 1) != 0 ? -std::log(u) : -std::log1p(-u);
}

/// Gumbel(0), P(G <= g) = exp(-exp(-g)), in [-log(66 ln 2), 66 ln 2].
TAPROOT_HOST_DEVICE inline double to_gumbel(std::uint64_t magnitude, std::uint64_t fraction) {
  return -std::log(to_exponential(magnitude, fraction));
}

/// Two draws of 64 bits: block `block` of a stream. Its high bits share a word with the purpose:
/// 2^56 blocks a stream.
struct PhiloxBlock {
  std::uint64_t draws[2];
};
TAPROOT_HOST_DEVICE inline PhiloxBlock philox_block(std::uint64_t seed, std::uint32_t sentence,
                                                    std::uint32_t sample, std::uint32_t purpose,
                                                    std::uint64_t block) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const r123::Philox4x32::ctr_type counter{
      {static_cast<std::uint32_t>(block), sample, sentence,
       purpose | static_cast<std::uint32_t>(block >> 32) << 8}};
  const auto r = r123::Philox4x32()(counter, key);
  return {{static_cast<std::uint64_t>(r[1]) << 32 | r[0],
           static_cast<std::uint64_t>(r[3]) << 32 | r[2]}};
}

/// The draws of Stream, below, one block at a time: where there is no memory to spare.
class PlainStream {
 public:
  TAPROOT_HOST_DEVICE PlainStream(std::uint64_t seed, std::uint32_t sentence, std::uint32_t sample,
                                  Purpose purpose, std::uint64_t first_draw = 0)
      : seed_(seed),
        sentence_(sentence),
        sample_(sample),
        purpose_(static_cast<std::uint32_t>(purpose)),
        draw_(first_draw) {
    if (draw_ % 2 == 1)
      second_ = philox_block(seed, sentence, sample, purpose_, draw_ / 2).draws[1];
  }

  TAPROOT_HOST_DEVICE std::uint64_t bits() {
    if (draw_++ % 2 == 1) return second_;
    const PhiloxBlock block = philox_block(seed_, sentence_, sample_, purpose_, (draw_ - 1) / 2);
    second_ = block.draws[1];
    return block.draws[0];
  }
  TAPROOT_HOST_DEVICE double uniform() { return to_uniform(bits()); }

 private:
  std::uint64_t seed_;
  std::uint32_t sentence_;
  std::uint32_t sample_;
  std::uint32_t purpose_;
  std::uint64_t draw_;
  std::uint64_t second_ = 0;
};

/// Blocks first, ..., first + 7 of a stream, two draws each, in vectors.
inline constexpr int kPhiloxBatch = 8;
void philox_batch(std::uint64_t seed, std::uint32_t sentence, std::uint32_t sample,
                  std::uint32_t purpose, std::uint64_t first, std::uint64_t* draws);

/// The stream of one sample. Copying it copies its place.
class Stream {
 public:
  /// From block `first` on: streams of one sample that begin far enough apart do not meet.
  Stream(std::uint64_t seed, std::uint32_t sentence, std::uint32_t sample, Purpose purpose,
         std::uint64_t first = 0)
      : seed_(seed),
        sentence_(sentence),
        sample_(sample),
        purpose_(static_cast<std::uint32_t>(purpose)),
        block_(first),
        first_(first) {}

  /// 64 bits; two draws share one block of Philox.
  std::uint64_t bits() {
    if (next_ == end_) refill();
    return draws_[next_++];
  }

  double uniform() { return to_uniform(bits()); }
  double exponential() {
    const std::uint64_t magnitude = bits();
    return to_exponential(magnitude, bits());
  }
  double gumbel() {
    const std::uint64_t magnitude = bits();
    return to_gumbel(magnitude, bits());
  }

 private:
  // A short sentence needs few draws: the first blocks come one by one.
  static constexpr std::uint64_t kSingleBlocks = 4;

  void refill() {
    next_ = 0;
    if (block_ - first_ >= kSingleBlocks) {
      philox_batch(seed_, sentence_, sample_, purpose_, block_, draws_);
      block_ += kPhiloxBatch;
      end_ = 2 * kPhiloxBatch;
      return;
    }
    const PhiloxBlock block = philox_block(seed_, sentence_, sample_, purpose_, block_);
    draws_[0] = block.draws[0];
    draws_[1] = block.draws[1];
    ++block_;
    end_ = 2;
  }

  std::uint64_t seed_;
  std::uint32_t sentence_;
  std::uint32_t sample_;
  std::uint32_t purpose_;
  int next_ = 0;
  int end_ = 0;
  std::uint64_t block_;
  std::uint64_t first_;
  std::uint64_t draws_[2 * kPhiloxBatch];
};

}  // namespace taproot::detail
