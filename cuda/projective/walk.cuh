// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/projective/chart.cuh"
#include "sample/chart/chart_cell.h"

namespace taproot::cuda::projective {

using detail::ChartCell;

/// A cell that waits, in 32 bits: positions are far below 2^15.
struct PackedCell {
  std::uint32_t bits;

  static __device__ PackedCell of(const ChartCell& cell) {
    return {static_cast<std::uint32_t>(cell.kind) << 30 | static_cast<std::uint32_t>(cell.d) << 15 |
            static_cast<std::uint32_t>(cell.i)};
  }
  __device__ ChartCell cell() const {
    return {static_cast<ChartCell::Kind>(bits >> 30),
            static_cast<std::int32_t>(bits >> 15 & 0x7fff),
            static_cast<std::int32_t>(bits & 0x7fff)};
  }
};

/// How many cells may wait at a time.
TAPROOT_HOST_DEVICE inline int most_cells(int size) { return 2 * size + 2; }

/// The alternatives of a span: alternative e has the factors a[e * a_step] and b[e * b_step].
template <typename T>
struct Alternatives {
  const T* a;
  const T* b;
  int a_step;
  int b_step;
};
template <typename T>
__device__ inline Alternatives<T> alternatives_of(const FoldedChart<T>& c, const ChartCell& cell) {
  const int size = c.size;
  switch (cell.kind) {
    case ChartCell::kRightSpan:
      return {c.edges + c.right(1, cell.i), c.spans + c.right(cell.d - 1, cell.i + 1), size,
              1 - size};
    case ChartCell::kLeftSpan:
      return {c.spans + c.left(0, cell.i), c.edges + c.left(cell.d, cell.i), 1 - size, size};
    default:
      return {c.spans + cell.i, c.spans + c.left(cell.d - 1, cell.i + 1), size, size};
  }
}

/// Walks down the chart (src/sample/chart/chart_cell.h): e = choose(cell) takes an alternative, or
/// ends the walk with -1. `stack` has room for most_cells(), `step` apart. set(i, head) takes the
/// head of word i + 1. Returns whether the walk came to its end. By one thread or, if kByWarp, by a
/// warp whose lanes choose the same.
template <bool kByWarp, typename T, typename Set, typename Choose>
__device__ inline bool walk(const FoldedChart<T>& c, PackedCell* stack, int step, Set&& set,
                            Choose&& choose) {
  const detail::ChartShape shape{c.size, c.first, 0};
  const bool writes = !kByWarp || lane_id() == 0;
  int top = 0;
  const auto attach = [&](int modifier, int head) {
    if (writes) set(modifier + c.first - 1, head < 0 ? 0 : head + c.first);
  };
  const auto push = [&](const ChartCell& cell) {
    if (writes) stack[static_cast<std::int64_t>(top) * step] = PackedCell::of(cell);
    ++top;
  };
  detail::start_walk(shape, attach, push);
  while (top > 0) {
    if constexpr (kByWarp) __syncwarp();
    const ChartCell cell = stack[static_cast<std::int64_t>(--top) * step].cell();
    const int e = choose(cell);
    if (e < 0) return false;
    if constexpr (kByWarp) __syncwarp();  // All have read the cell.
    detail::take_choice(shape, cell, e, attach, push);
  }
  return true;
}

}  // namespace taproot::cuda::projective
