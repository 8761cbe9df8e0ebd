// SPDX-License-Identifier: Apache-2.0
//
// The only matrix product of the library. Included once per target; see simd-inl.h for the guard.
#if defined(TAPROOT_CORE_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPROOT_CORE_PRODUCT_INL_H_
#undef TAPROOT_CORE_PRODUCT_INL_H_
#else
#define TAPROOT_CORE_PRODUCT_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "core/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {

// A tile keeps at least eight accumulators, which hide the latency of the multiply-add, and no more
// than fit into the target's registers.
inline constexpr size_t kTileRows = kLanes;
inline constexpr size_t kTileBlocks = kLanes == 8 ? 2 : 1;
// So many rows of the right-hand factor are kept in the first-level cache: 128 x 16 doubles, 16 KB.
inline constexpr size_t kTileDepth = 128;

// The left-hand factor: element (i, l) is data[i * row_stride + l * column_stride].
struct Left {
  const double* data;
  size_t row_stride;
  size_t column_stride;
};

template <size_t kRows, size_t kBlocks>
HWY_INLINE void product_tile(double* HWY_RESTRICT c, size_t ldc, Left a,
                             const double* HWY_RESTRICT w, size_t ldw, size_t depth) {
  Block sum[kRows][kBlocks];
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kBlocks; ++j) sum[i][j] = load(c + i * ldc + j * kBlock);
  }
  for (size_t l = 0; l < depth; ++l) {
    Block right[kBlocks];
    for (size_t j = 0; j < kBlocks; ++j) right[j] = load(w + l * ldw + j * kBlock);
    for (size_t i = 0; i < kRows; ++i) {
      const Block left = broadcast(a.data[i * a.row_stride + l * a.column_stride]);
      for (size_t j = 0; j < kBlocks; ++j) sum[i][j] = multiply_add(left, right[j], sum[i][j]);
    }
  }
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kBlocks; ++j) store(sum[i][j], c + i * ldc + j * kBlock);
  }
}

// Handles fewer than 2 kRows rows: a tile of kRows if there are so many, then tiles of half, and so
// on.
template <size_t kRows, size_t kBlocks>
HWY_INLINE void product_rest(double* c, size_t ldc, size_t rows, Left a, const double* w,
                             size_t ldw, size_t depth) {
  if constexpr (kRows > 0) {
    if (rows >= kRows) {
      product_tile<kRows, kBlocks>(c, ldc, a, w, ldw, depth);
      c += kRows * ldc;
      a.data += kRows * a.row_stride;
      rows -= kRows;
    }
    product_rest<kRows / 2, kBlocks>(c, ldc, rows, a, w, ldw, depth);
  }
}

template <size_t kBlocks>
HWY_INLINE void product_column(double* c, size_t ldc, size_t rows, Left a, const double* w,
                               size_t ldw, size_t depth) {
  size_t i = 0;
  for (; i + kTileRows <= rows; i += kTileRows) {
    product_tile<kTileRows, kBlocks>(c + i * ldc, ldc,
                                     {a.data + i * a.row_stride, a.row_stride, a.column_stride}, w,
                                     ldw, depth);
  }
  product_rest<kTileRows / 2, kBlocks>(c + i * ldc, ldc, rows - i,
                                       {a.data + i * a.row_stride, a.row_stride, a.column_stride},
                                       w, ldw, depth);
}

// c[i][j] += sum over l of a(i, l) * w[l][j]. `columns` is a multiple of kBlock, and c overlaps
// neither factor. The order of the additions depends on `depth` alone, whatever the target.
HWY_INLINE void add_product(double* c, size_t ldc, size_t rows, size_t columns, Left a,
                            const double* w, size_t ldw, size_t depth) {
  HWY_ALIGN double packed[kTileDepth * kTileBlocks * kBlock];
  for (size_t l0 = 0; l0 < depth; l0 += kTileDepth) {
    const size_t l1 = std::min(depth - l0, kTileDepth);
    // The rows of a tile lie a whole matrix row apart. Packing them pays if many rows reuse them.
    const bool pack = rows >= 2 * kTileRows && l1 >= 16;
    for (size_t j = 0; j < columns;) {
      const size_t blocks = std::min((columns - j) / kBlock, kTileBlocks);
      const double* tile = w + l0 * ldw + j;
      size_t ld_tile = ldw;
      if (pack) {
        for (size_t l = 0; l < l1; ++l) {
          for (size_t b = 0; b < blocks; ++b) {
            store(load(tile + l * ldw + b * kBlock), packed + (l * blocks + b) * kBlock);
          }
        }
        tile = packed;
        ld_tile = blocks * kBlock;
      }
      const Left left{a.data + l0 * a.column_stride, a.row_stride, a.column_stride};
      if (blocks == kTileBlocks) {
        product_column<kTileBlocks>(c + j, ldc, rows, left, tile, ld_tile, l1);
      } else {
        product_column<1>(c + j, ldc, rows, left, tile, ld_tile, l1);
      }
      j += blocks * kBlock;
    }
  }
}

// Writes row l of M = (I - T)^-1 to m[l], from M = I + T M. T is strictly triangular (lower if
// kLower) and of size <= kBlock; entry(l, j) is T(l, j), asked only within the triangle.
template <bool kLower, typename Entry>
HWY_INLINE void fill_triangle_inverse(size_t size, Entry&& entry, Block* m) {
  HWY_ALIGN double unit[2 * kBlock] = {};
  unit[kBlock] = 1;
  for (size_t i = 0; i < size; ++i) {
    const size_t l = kLower ? i : size - 1 - i;
    m[l] = load(unit + kBlock - l);
    for (size_t j = kLower ? 0 : l + 1; j < (kLower ? l : size); ++j) {
      m[l] = multiply_add(broadcast(entry(l, j)), m[j], m[l]);
    }
  }
}

template <bool kLower, typename Entry>
HWY_INLINE void triangle_inverse(size_t size, Entry&& entry, Block* m) {
  if (size == kBlock) {  // With a constant size the compiler keeps M in registers.
    fill_triangle_inverse<kLower>(kBlock, entry, m);
  } else {
    fill_triangle_inverse<kLower>(size, entry, m);
  }
}

// x = x M for `rows` rows of one block each; only the first `size` entries of a row are read.
HWY_INLINE void multiply_rows_by(double* x, size_t ld, size_t rows, const Block* m, size_t size) {
  for (size_t i = 0; i < rows; ++i, x += ld) {
    Block even = multiply(broadcast(x[0]), m[0]);  // Two independent sums halve the latency.
    Block odd = broadcast(0.0);
    for (size_t l = 1; l < size; l += 2) odd = multiply_add(broadcast(x[l]), m[l], odd);
    for (size_t l = 2; l < size; l += 2) even = multiply_add(broadcast(x[l]), m[l], even);
    store(add(even, odd), x);
  }
}

HWY_INLINE void multiply_rows(double* x, size_t ld, size_t rows, const Block* m, size_t size) {
  if (size == kBlock) {
    multiply_rows_by(x, ld, rows, m, kBlock);
  } else {
    multiply_rows_by(x, ld, rows, m, size);
  }
}

}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TAPROOT_CORE_PRODUCT_INL_H_
