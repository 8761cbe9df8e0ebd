// SPDX-License-Identifier: Apache-2.0
//
// Randomness as a pure function. The draws of a sample depend on (seed, sentence id, sample,
// purpose) alone, whoever asks and in whatever order: they are blocks of Philox4x32-10 (Salmon et
// al. 2011). A seed and an id have 128 bits together, more than a key holds, so one block under
// the seed turns the id into a StreamKey of 96 bits; two of 10^10 sentences share one with
// probability below 10^-9. Block d of a stream is then Philox of the counter
// (d, sample, key word, purpose) under the key, two draws of 64 bits; the high bits of d share a
// word with the purpose.
#pragma once

#include <Random123/philox.h>

#include <cmath>
#include <cstdint>

#include "core/format.h"
#include "core/host_device.h"

namespace taproot::detail {

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

/// What all streams of a sentence under a seed have in common.
struct StreamKey {
  std::uint32_t key[2];
  std::uint32_t word;
};

/// Two draws of 64 bits.
struct PhiloxBlock {
  std::uint64_t draws[2];
};

/// `attempt` is for samplers that may need several tries for a tree, each with fresh numbers.
TAPROOT_HOST_DEVICE inline StreamKey stream_key(std::uint64_t seed, std::uint64_t id,
                                                std::uint32_t attempt = 0) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const r123::Philox4x32::ctr_type counter{{static_cast<std::uint32_t>(id),
                                            static_cast<std::uint32_t>(id >> 32), kKeyWord0,
                                            kKeyWord1 + attempt}};
  const auto r = r123::Philox4x32()(counter, key);
  return {{r[0], r[1]}, r[2]};
}

/// Block `block` of a stream; there are 2^56.
TAPROOT_HOST_DEVICE inline PhiloxBlock philox_block(const StreamKey& key, std::uint32_t sample,
                                                    Purpose purpose, std::uint64_t block) {
  const r123::Philox4x32::ctr_type counter{
      {static_cast<std::uint32_t>(block), sample, key.word,
       static_cast<std::uint32_t>(purpose) | static_cast<std::uint32_t>(block >> 32) << 8}};
  const auto r = r123::Philox4x32()(counter, r123::Philox4x32::key_type{{key.key[0], key.key[1]}});
  return {{static_cast<std::uint64_t>(r[1]) << 32 | r[0],
           static_cast<std::uint64_t>(r[3]) << 32 | r[2]}};
}

/// The draws of Stream, below, one block at a time: where there is no memory to spare.
class PlainStream {
 public:
  TAPROOT_HOST_DEVICE PlainStream(const StreamKey& key, std::uint32_t sample, Purpose purpose,
                                  std::uint64_t first_draw = 0)
      : key_(key), sample_(sample), purpose_(purpose), draw_(first_draw) {
    if (draw_ % 2 == 1) second_ = philox_block(key_, sample_, purpose_, draw_ / 2).draws[1];
  }

  TAPROOT_HOST_DEVICE std::uint64_t bits() {
    if (draw_++ % 2 == 1) return second_;
    const PhiloxBlock block = philox_block(key_, sample_, purpose_, (draw_ - 1) / 2);
    second_ = block.draws[1];
    return block.draws[0];
  }
  TAPROOT_HOST_DEVICE double uniform() { return to_uniform(bits()); }

 private:
  StreamKey key_;
  std::uint32_t sample_;
  Purpose purpose_;
  std::uint64_t draw_;
  std::uint64_t second_ = 0;
};

/// Blocks first, ..., first + 7 of a stream, two draws each, in vectors.
inline constexpr int kPhiloxBatch = 8;
void philox_batch(const StreamKey& key, std::uint32_t sample, Purpose purpose, std::uint64_t first,
                  std::uint64_t* draws);

/// The stream of one sample. Copying it copies its place.
class Stream {
 public:
  /// From block `first` on: streams of one sample that begin far enough apart do not meet.
  Stream(const StreamKey& key, std::uint32_t sample, Purpose purpose, std::uint64_t first = 0)
      : key_(key), sample_(sample), purpose_(purpose), block_(first), first_(first) {}

  /// A stream that expects to be asked for many numbers and makes the first blocks in a batch, too.
  static Stream of_many(const StreamKey& key, std::uint32_t sample, Purpose purpose) {
    Stream stream(key, sample, purpose);
    stream.first_ -= kSingleBlocks;
    return stream;
  }

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
      philox_batch(key_, sample_, purpose_, block_, draws_);
      block_ += kPhiloxBatch;
      end_ = 2 * kPhiloxBatch;
      return;
    }
    const PhiloxBlock block = philox_block(key_, sample_, purpose_, block_);
    draws_[0] = block.draws[0];
    draws_[1] = block.draws[1];
    ++block_;
    end_ = 2;
  }

  StreamKey key_;
  std::uint32_t sample_;
  Purpose purpose_;
  int next_ = 0;
  int end_ = 0;
  std::uint64_t block_;
  std::uint64_t first_;
  std::uint64_t draws_[2 * kPhiloxBatch];
};

}  // namespace taproot::detail
