// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace taproot {

/// Knuth's 64-bit linear congruential generator: numbers for tests and benchmarks that are the same
/// everywhere. Not the library's generator, so that a test does not lean on what it tests.
class LinearCongruential {
 public:
  explicit LinearCongruential(std::uint64_t seed) : state_(seed) {}

  /// 64 bits, of which the high ones are the good ones.
  std::uint64_t bits() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_;
  }

  /// 0, ..., bound - 1.
  std::uint64_t below(std::uint64_t bound) { return (bits() >> 33) % bound; }

  /// In (0, 1): an odd multiple of 2^-54.
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace taproot
