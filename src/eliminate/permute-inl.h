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

#include "core/probability.h"
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

// heads[i][m] = matrix[position[m]][column + i] for i < kBlock and m <= n. The matrix has rows of
// ld, `heads` has rows of heads_ld.
HWY_INLINE void heads_by_position(const double* matrix, size_t ld, size_t n,
                                  const int32_t* position, size_t column, double* heads,
                                  size_t heads_ld) {
  for (size_t m = 0; m <= n; m += kSquare) {
    for (size_t i = 0; i < kBlock; i += kSquare) {
      const double* from[kSquare];
      double* to[kSquare];
      for (size_t s = 0; s < kSquare; ++s) {
        from[s] = matrix + static_cast<size_t>(position[m + s]) * ld + column + i;
        to[s] = heads + (i + s) * heads_ld + m;
      }
      transpose(from, to);
    }
  }
}

// A marginal from the weight of its edge and the derivative of log Z in that weight.
template <typename Tag>
HWY_INLINE hn::Vec<Tag> marginal(Tag d, hn::Vec<Tag> weight, hn::Vec<Tag> gradient) {
  const auto one = hn::Set(d, 1.0);
  const auto p = hn::Mul(weight, gradient);
  const auto below_one = hn::IfThenElse(hn::Gt(p, one), one, p);  // A minimum would hide NaN.
  return hn::IfThenZeroElse(hn::Lt(p, hn::Zero(d)), below_one);
}

// out[i][m] = weights[i][m] * gradient[position[m]][column + i] for i < count <= kBlock and m <= n,
// or the nearest probability. weights[i] and out[i] are rows of heads in sentence order. The block
// of columns of the gradient, which has rows of ld, is first transposed into `transposed`, which
// has kBlock rows of transposed_ld.
HWY_INLINE void multiply_heads(const double* gradient, size_t ld, size_t n, const int32_t* position,
                               size_t column, const double* const* weights, double* transposed,
                               size_t transposed_ld, double* const* out, size_t count) {
  heads_by_position(gradient, ld, n, position, column, transposed, transposed_ld);
  const D d;
  for (size_t i = 0; i < count; ++i) {
    const double* HWY_RESTRICT w = weights[i];
    const double* HWY_RESTRICT g = transposed + i * transposed_ld;
    const auto multiply = [&](size_t m) HWY_ATTR {
      hn::StoreU(marginal(d, hn::LoadU(d, w + m), hn::LoadU(d, g + m)), d, out[i] + m);
    };
    if (n + 1 < kLanes) {
      for (size_t m = 0; m <= n; ++m) out[i][m] = nearest_probability(w[m] * g[m]);
      continue;
    }
    size_t m = 0;
    for (; m + kLanes <= n + 1; m += kLanes) multiply(m);
    if (m <= n) multiply(n + 1 - kLanes);  // Some of them once more.
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_ELIMINATE_PERMUTE_INL_H_
