// SPDX-License-Identifier: Apache-2.0
//
// Contraction in float32. Nothing is subtracted, so every probability has a relative error of a few
// n 2^-24, whatever the weights, while the range of float suffices.
//
// One warp has few instructions in flight, so branches and waiting dominate the cost. Therefore
// words are eliminated four at a time, a block of four is always full, and the number of columns
// per lane is a template parameter.
#pragma once

#include <cstddef>

#include "cuda/core/warp.cuh"

namespace taproot::cuda {

/// The most words that may be left: four columns per lane.
inline constexpr int kMostNarrow = 4 * kWarp;
inline constexpr int kFour = 4;
/// Rows whose loads are in flight at once.
template <int kColumns>
inline constexpr int kRowsAhead = kColumns == 1 ? 8 : 4;
/// Underflow makes an absolute error of 2^-149 in some entry, which costs that times 2^bits, the
/// product of the columns' sums over that of the pivots (docs/numerics.md). With more bits than
/// this the law is found in double.
inline constexpr float kMostNarrowBits = 50;
/// A bound on the error of q, all entries taken together, that underflow then makes.
inline constexpr double kNarrowError = 0x1p-80;

/// `count` with so many numbers added that all but number 0, which stays, are a multiple of four.
TAPROOT_HOST_DEVICE inline constexpr int filled_up(int count) { return (count + 2) / 4 * 4 + 1; }

/// The undecided words without the sink; i is number 0. Numbers from `count` to `all` stand for no
/// word: their only edge is one of weight 1 from the sink.
struct NarrowNodes {
  int i;
  int sink;
  int count;
  int all;

  __device__ NarrowNodes(int n, int node, int its_sink)
      : i(node),
        sink(its_sink),
        count(n - node + 1 - (its_sink > node ? 1 : 0)),
        all(filled_up(count)) {}
  __device__ int number(int node) const { return node - i - (sink > i && node > sink ? 1 : 0); }
  __device__ int node(int number) const {
    const int x = number + i;
    return x + (sink > i && x >= sink ? 1 : 0);
  }
};

/// How many floats a contraction takes when i is decided next; a multiple of four.
TAPROOT_HOST_DEVICE inline constexpr std::int64_t narrow_scratch(int n, int i) {
  const std::int64_t all = filled_up(n - i + 1);
  return (5 * all + (all + 1) * (all | 1) + 3) / 4 * 4;
}

/// Dynamic shared memory. Addressed by this name, loads and stores take half as long as by a
/// pointer of which the compiler does not know that it points to shared memory.
extern __shared__ __align__(16) unsigned char block_memory[];

/// Where the parts of a contraction are in it.
struct NarrowScratch {
  float4* into;          ///< The weights, by head, of the words being eliminated.
  float* inverse_pivot;  ///< In the end it holds q.
  float* x;              ///< [h][m]; the sink's row is the last one.
  float* ends;           ///< The sink's row.
  int side;

  /// The parts begin so many bytes into the memory.
  __device__ NarrowScratch(int begin, int all) {
    float* memory = reinterpret_cast<float*>(block_memory + begin);
    into = reinterpret_cast<float4*>(memory);
    inverse_pivot = memory + 4 * all;
    x = inverse_pivot + all;
    side = all | 1;
    ends = x + all * side;
  }
};

/// The weights of the contracted problem.
template <int kColumns>
__device__ __forceinline__ void merge(const float* __restrict__ by_head, int ld,
                                      const NarrowNodes& nodes,
                                      const std::uint16_t* __restrict__ leads,
                                      const NarrowScratch& to) {
  constexpr int kAhead = kRowsAhead<kColumns>;
  const int lane = lane_id();
  const int count = nodes.count;
  int column[kColumns];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int m = lane + kWarp * c;
    column[c] = m < count ? nodes.node(m) : 0;  // Column 0 exists and is empty.
    if (m < count) to.ends[m] = 0;
  }
  // Undecided words have a row of their own.
  for (int h0 = 0; h0 < count; h0 += kAhead) {
    float w[kAhead][kColumns];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int h = nodes.node(min(h0 + j, count - 1));
#pragma unroll
      for (int c = 0; c < kColumns; ++c) w[j][c] = by_head[h * ld + column[c]];
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int m = lane + kWarp * c;
        if (h0 + j < count && m < count) to.x[(h0 + j) * to.side + m] = w[j][c];
      }
    }
  }
  for (int none = count; none < nodes.all; ++none) {
    for (int other = lane; other < nodes.all; other += kWarp) {
      to.x[none * to.side + other] = 0;
      if (other < count) to.x[other * to.side + none] = 0;
    }
    if (lane == 0) to.ends[none] = 1;
  }
  // ROOT, the sink and the words before i add to the rows of the words that they lead to. An edge
  // that leads back to m goes to the diagonal, which is never read.
  const int others = nodes.i + (nodes.sink > nodes.i ? 1 : 0);
  for (int h0 = 0; h0 < others; h0 += kAhead) {
    int row[kAhead];
    float w[kAhead][kColumns];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int h = h0 + j < nodes.i ? h0 + j : nodes.sink;
      const int end = leads[h];
      row[j] = end == nodes.sink ? nodes.all : nodes.number(end);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        w[j][c] = h0 + j < others ? by_head[h * ld + column[c]] : 0.0F;
      }
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int m = lane + kWarp * c;
        if (m < count) to.x[row[j] * to.side + m] += w[j][c];
      }
    }
  }
  __syncwarp();
}

/// Eliminates the words top, top - 1, top - 2, top - 3. Returns log2 of the product of their
/// pivots.
template <int kColumns>
__device__ __forceinline__ float eliminate_four(const NarrowScratch& s, int top) {
  const int lane = lane_id();
  const int left = top - kFour + 1;  // Numbers below stay.
  // Pivot j is number top - j.
  float into[kColumns][kFour];
  float sum[kFour] = {0, 0, 0, 0};
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int h = lane + kWarp * c;
    const float* row = s.x + h * s.side + top;
#pragma unroll
    for (int j = 0; j < kFour; ++j) {
      into[c][j] = h < left ? row[-j] : 0.0F;
      sum[j] += into[c][j];
    }
  }
  float within[kFour][kFour];  // [head][modifier]
  float ends[kFour];
#pragma unroll
  for (int j = 0; j < kFour; ++j) {
    ends[j] = s.ends[top - j];
#pragma unroll
    for (int a = 0; a < kFour; ++a) within[a][j] = s.x[(top - a) * s.side + top - j];
  }
  // The weights of the words that stay, with the four as heads, and with the sink.
  float part[kColumns][kFour];
  float end[kColumns];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int m = lane + kWarp * c;
    end[c] = m < left ? s.ends[m] : 0.0F;
#pragma unroll
    for (int j = 0; j < kFour; ++j) part[c][j] = m < left ? s.x[(top - j) * s.side + m] : 0.0F;
  }
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
#pragma unroll
    for (int j = 0; j < kFour; ++j) sum[j] += __shfl_xor_sync(kAllLanes, sum[j], step);
  }
  float inverse[kFour];
  float share[kFour][kFour];  // [pivot][a later one as modifier]
  float bits = 0;
#pragma unroll
  for (int j = 0; j < kFour; ++j) {
    float pivot = sum[j] + ends[j];
#pragma unroll
    for (int a = j + 1; a < kFour; ++a) pivot += within[a][j];
    bits += __log2f(pivot);  // -inf or NaN unless the pivot is above 0.
    inverse[j] = __frcp_rn(pivot);
#pragma unroll
    for (int a = j + 1; a < kFour; ++a) {
      share[j][a] = within[j][a] * inverse[j];
      sum[a] = fmaf(share[j][a], sum[j], sum[a]);
      ends[a] = fmaf(share[j][a], ends[j], ends[a]);
#pragma unroll
      for (int h = j + 1; h < kFour; ++h) {
        if (h != a) within[h][a] = fmaf(share[j][a], within[h][j], within[h][a]);
      }
    }
  }
  // Each of the four by head, with those before it eliminated; and the shares of words that stay.
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int h = lane + kWarp * c;
#pragma unroll
    for (int j = 0; j < kFour; ++j) {
#pragma unroll
      for (int a = 0; a < j; ++a) {
        into[c][j] = fmaf(share[a][j], into[c][a], into[c][j]);
        part[c][j] = fmaf(part[c][a], within[j][a], part[c][j]);
      }
      part[c][j] *= inverse[j];
      end[c] = fmaf(part[c][j], ends[j], end[c]);
    }
    if (h < left) {
      s.into[h] = make_float4(into[c][0], into[c][1], into[c][2], into[c][3]);
      s.ends[h] = end[c];
      float* row = s.x + h * s.side + top;
#pragma unroll
      for (int j = 0; j < kFour; ++j) row[-j] = into[c][j];
    }
  }
  __syncwarp();
  if (lane == 0) {
#pragma unroll
    for (int j = 0; j < kFour; ++j) {
      s.ends[top - j] = ends[j];
      s.inverse_pivot[top - j] = inverse[j];
#pragma unroll
      for (int a = j + 1; a < kFour; ++a) s.x[(top - a) * s.side + top - j] = within[a][j];
    }
  }
  constexpr int kRows = kRowsAhead<kColumns>;
  for (int h0 = 0; h0 < left; h0 += kRows) {
    float4 from[kRows];
    float value[kRows][kColumns];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int h = min(h0 + r, left - 1);
      from[r] = s.into[h];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int m = lane + kWarp * c;
        value[r][c] = m < left ? s.x[h * s.side + m] : 0.0F;
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        float total = fmaf(part[c][0], from[r].x, value[r][c]);
        total = fmaf(part[c][1], from[r].y, total);
        total = fmaf(part[c][2], from[r].z, total);
        total = fmaf(part[c][3], from[r].w, total);
        const int m = lane + kWarp * c;
        if (h0 + r < left && m < left) s.x[(h0 + r) * s.side + m] = total;
      }
    }
  }
  __syncwarp();
  return bits;
}

/// Eliminates top, ..., 1, with fewer columns per lane as words become fewer. Returns log2 of the
/// product of the pivots.
template <int kColumns>
__device__ __forceinline__ float eliminate_all(const NarrowScratch& s, int top) {
  float bits = 0;
  for (; top - kFour + 1 > (kColumns - 1) * kWarp; top -= kFour) {
    bits += eliminate_four<kColumns>(s, top);
  }
  if constexpr (kColumns > 1) bits += eliminate_all<kColumns - 1>(s, top);
  return bits;
}

/// Computes q into s.inverse_pivot: each entry, once known, is passed on to the words after it.
template <int kColumns>
__device__ __forceinline__ void substitute(const NarrowScratch& s, int count) {
  constexpr int kAhead = kRowsAhead<kColumns>;
  const int lane = lane_id();
  float sum[kColumns];
  float inverse[kColumns];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int m = lane + kWarp * c;
    sum[c] = m > 0 && m < count ? s.ends[m] : 0.0F;
    inverse[c] = m > 0 && m < count ? s.inverse_pivot[m] : 0.0F;
  }
#pragma unroll
  for (int own = 0; own < kColumns; ++own) {
    const int end = min(count, kWarp * (own + 1));
    for (int k0 = kWarp * own; k0 < end; k0 += kAhead) {
      float row[kAhead][kColumns];
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        const int k = min(k0 + j, count - 1);
#pragma unroll
        for (int c = own; c < kColumns; ++c) {
          const int m = lane + kWarp * c;
          const float value = s.x[k * s.side + min(m, count - 1)];
          row[j][c] = m > k0 + j && m < count ? value : 0.0F;
        }
      }
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        // Beyond the last word the rows are 0.
        const float q = __shfl_sync(kAllLanes, sum[own] * inverse[own], (k0 + j) % kWarp);
#pragma unroll
        for (int c = own; c < kColumns; ++c) sum[c] = fmaf(row[j][c], q, sum[c]);
      }
    }
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int m = lane + kWarp * c;
    if (m < count) s.inverse_pivot[m] = sum[c] * inverse[c];
  }
  __syncwarp();
}

template <int kColumns>
__device__ __noinline__ float narrow_contraction_of(const float* __restrict__ by_head, int ld,
                                                    NarrowNodes nodes,
                                                    const std::uint16_t* __restrict__ leads,
                                                    int begin) {
  const NarrowScratch s(begin, nodes.all);
  merge<kColumns>(by_head, ld, nodes, leads, s);
  const float bits = eliminate_all<kColumns>(s, nodes.all - 1);
  substitute<kColumns>(s, nodes.count);
  return bits;
}

/// The first part of contracted_law(), in the shared memory from byte `begin` on: q of number m is
/// NarrowScratch::inverse_pivot[m]. Returns log2 of the product of the pivots.
template <int kMostColumns>
__device__ __forceinline__ float narrow_contraction(const float* by_head, int ld,
                                                    const NarrowNodes& nodes,
                                                    const std::uint16_t* leads, int begin) {
  if constexpr (kMostColumns > 1) {
    if (nodes.count <= (kMostColumns - 1) * kWarp) {
      return narrow_contraction<kMostColumns - 1>(by_head, ld, nodes, leads, begin);
    }
  }
  return narrow_contraction_of<kMostColumns>(by_head, ld, nodes, leads, begin);
}

}  // namespace taproot::cuda
