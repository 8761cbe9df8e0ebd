// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/host_device.h"
#include "cuda/core/warp.cuh"

namespace taproot::cuda {

/// The cost of a set of edges without rounding: their scores as an integer times a power of two,
/// and below it 64 bits for the sum of their pseudo-random numbers, which breaks ties (see
/// src/decode/tree_cost.h). One signed integer of kLimbs words of 64 bits, the lowest first.
template <int kLimbs>
struct Fixed {
  std::uint64_t limb[kLimbs];

  /// score / 2^unit, cut off to an integer, and the number of the edge.
  __device__ static Fixed of(double score, int unit, std::uint64_t order) {
    const std::uint64_t bits = detail::bits_of_double(score);
    const int biased = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t fraction = bits & 0xfffffffffffff;
    const std::uint64_t mantissa = biased == 0 ? fraction : fraction | std::uint64_t{1} << 52;
    const int shift = max(biased, 1) - 1075 - unit;
    const bool negative = (bits >> 63) != 0;
    Fixed x;
    std::uint64_t carry = 1;
#pragma unroll
    for (int i = 1; i < kLimbs; ++i) {
      const int by = shift - 64 * (i - 1);
      std::uint64_t part = 0;
      if (by >= 0 && by < 64) part = mantissa << by;
      if (by < 0 && by > -64) part = mantissa >> -by;
      if (negative) {  // Two's complement; the lowest limb of the magnitude is 0.
        part = ~part + carry;
        carry = carry != 0 && part == 0 ? 1 : 0;
      }
      x.limb[i] = part;
    }
    x.limb[0] = order;
    return x;
  }

  __device__ Fixed& operator+=(const Fixed& b) {
    std::uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < kLimbs; ++i) {
      const std::uint64_t sum = limb[i] + b.limb[i];
      const std::uint64_t all = sum + carry;
      carry = (sum < b.limb[i] ? 1 : 0) + (all < sum ? 1 : 0);
      limb[i] = all;
    }
    return *this;
  }
  __device__ Fixed& operator-=(const Fixed& b) {
    std::uint64_t borrow = 0;
#pragma unroll
    for (int i = 0; i < kLimbs; ++i) {
      const std::uint64_t rest = limb[i] - b.limb[i];
      const std::uint64_t all = rest - borrow;
      borrow = (limb[i] < b.limb[i] ? 1 : 0) + (rest < borrow ? 1 : 0);
      limb[i] = all;
    }
    return *this;
  }

  /// Whether a < b.
  __device__ friend bool operator<(const Fixed& a, const Fixed& b) {
    const auto high_a = static_cast<std::int64_t>(a.limb[kLimbs - 1]);
    const auto high_b = static_cast<std::int64_t>(b.limb[kLimbs - 1]);
    bool less = false;
#pragma unroll
    for (int i = 0; i < kLimbs - 1; ++i) {
      less = a.limb[i] < b.limb[i] || (a.limb[i] == b.limb[i] && less);
    }
    return high_a < high_b || (high_a == high_b && less);
  }

  /// The sum of the scores alone, off by less than 2^-51 of itself. For few limbs, whose range is
  /// that of double.
  __device__ double rounded(int unit) const {
    std::uint64_t sum[kLimbs];
    std::uint64_t carry = limb[0] >> 63;  // The sum of the numbers below it is negative.
#pragma unroll
    for (int i = 1; i < kLimbs; ++i) {
      sum[i] = limb[i] + carry;
      carry = carry != 0 && sum[i] == 0 ? 1 : 0;
    }
    const bool negative = static_cast<std::int64_t>(sum[kLimbs - 1]) < 0;
    carry = 1;
#pragma unroll
    for (int i = 1; i < kLimbs && negative; ++i) {
      sum[i] = ~sum[i] + carry;
      carry = carry != 0 && sum[i] == 0 ? 1 : 0;
    }
    double magnitude = 0;
#pragma unroll
    for (int i = kLimbs - 1; i > 0; --i) {
      magnitude = fma(magnitude, 0x1p64, static_cast<double>(sum[i]));
    }
    return scalbn(negative ? -magnitude : magnitude, unit);
  }

  __device__ Fixed from_lane(int step) const {
    Fixed other;
#pragma unroll
    for (int i = 0; i < kLimbs; ++i) {
      other.limb[i] =
          static_cast<std::uint64_t>(shuffle_xor(static_cast<unsigned long long>(limb[i]), step));
    }
    return other;
  }
};

/// Where the digits of a score lie: 2^top is above its magnitude, and it is a multiple of 2^unit.
struct Digits {
  int top;
  int unit;
};
inline constexpr int kNoTop = -2000;
inline constexpr int kNoUnit = 2000;

__device__ inline Digits digits_of(double score) {
  const std::uint64_t bits = detail::bits_of_double(score);
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & 0xfffffffffffff;
  const std::uint64_t mantissa = biased == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  if (mantissa == 0) return {kNoTop, kNoUnit};
  const int lowest = max(biased, 1) - 1075;
  return {lowest + 64 - detail::leading_zeros(mantissa),
          lowest + __ffsll(static_cast<long long>(mantissa)) - 1};
}

}  // namespace taproot::cuda
