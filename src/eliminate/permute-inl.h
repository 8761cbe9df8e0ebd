// SPDX-License-Identifier: Apache-2.0
//
// Copies between matrices in sentence order, row = head, and matrices by position, row = modifier.
// A block of heads at a time uses whole cache lines, and small squares use vectors on both sides.
// Squares reach beyond n, where position is 0: row 0 by position may hold anything.
#if defined(TAPROOT_ELIMINATE_PERMUTE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_ELIMINATE_PERMUTE_INL_H_
#undef TAPROOT_ELIMINATE_PERMUTE_INL_H_
#else
#define TAPROOT_ELIMINATE_PERMUTE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// matrix[position[m]][column + i] = heads[i][m] for i < kBlock and m <= n.
HWY_INLINE void heads_to_position(const double* const* heads, size_t n, const int32_t* position,
                                  size_t column, double* matrix, size_t ld) {
  for (size_t m = 0; m <= n; m += kSquare) {
    for (size_t i = 0; i < kBlock; i += kSquare) {
      const double* from[kSquare];
      double* to[kSquare];
      for (size_t s = 0; s < kSquare; ++s) {
        from[s] = heads[i + s] + m;
        to[s] = matrix + static_cast<size_t>(position[m + s]) * ld + column + i;
      }
      transpose(from, to);
    }
  }
}

// heads[i][m] = matrix[position[m]][column + i] for i < kBlock and m <= n; both have rows of ld.
HWY_INLINE void heads_by_position(const double* matrix, size_t ld, size_t n,
                                  const int32_t* position, size_t column, double* heads) {
  for (size_t m = 0; m <= n; m += kSquare) {
    for (size_t i = 0; i < kBlock; i += kSquare) {
      const double* from[kSquare];
      double* to[kSquare];
      for (size_t s = 0; s < kSquare; ++s) {
        from[s] = matrix + static_cast<size_t>(position[m + s]) * ld + column + i;
        to[s] = heads + (i + s) * ld + m;
      }
      transpose(from, to);
    }
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_ELIMINATE_PERMUTE_INL_H_
