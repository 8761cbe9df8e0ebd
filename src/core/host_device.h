// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic that is written once and compiled for the host and, by nvcc, for the device.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__CUDACC__)
#define TAPROOT_HOST_DEVICE __host__ __device__
#else
#define TAPROOT_HOST_DEVICE
#endif

namespace taproot::detail {

/// The number of zeros before the first 1 in 64 bits; 64 if all bits are 0.
TAPROOT_HOST_DEVICE inline int leading_zeros(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(bits));
#else
  return std::countl_zero(bits);
#endif
}

TAPROOT_HOST_DEVICE inline double double_of_bits(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

TAPROOT_HOST_DEVICE inline std::uint64_t bits_of_double(double x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(x));
#else
  return std::bit_cast<std::uint64_t>(x);
#endif
}

/// The high and the low 64 bits of a * b.
struct WideProduct {
  std::uint64_t high;
  std::uint64_t low;
};
TAPROOT_HOST_DEVICE inline WideProduct multiply_wide(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return {__umul64hi(a, b), a * b};
#else
  __extension__ using Wider = unsigned __int128;
  const Wider product = static_cast<Wider>(a) * static_cast<Wider>(b);
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#endif
}

}  // namespace taproot::detail
