// SPDX-License-Identifier: Apache-2.0
//
// H v by two matrix products. G[h][m] = M[m][m] - M[m][h], where M is the inverse of the Laplacian,
// and dM = -M dL M. So, with dA = A v, G[m][m] = 0 and, in place of dA[m][m], minus the sum of
// dA[h][m] over all heads h (single-root: without ROOT),
//   Y[a][m]  = sum over h of G[h][a] dA[h][m]
//   W[m][h]  = sum over j of Y[m][j] G[h][j]
//   dG[h][m] = W[m][m] - W[m][h]                         (single-root, h = ROOT: -W[m][0])
// A row of W needs no other row, so several blocks share a sentence, and nothing waits for a word.
//
// Terms cancel here that the derivatives of both passes (hessian.cuh) never have. With c[m] the sum
// of a column's weights and g[m] the largest G[h][m], the terms of dG[h][m] A[h][m] add up to at
// most 4 c[m] g[m] times the sum of all c[j] g[j], times max|v|. That is 4 n where words have few
// chances to form a cycle, and is found for every sentence before anything is multiplied.
#pragma once

#include "cuda/query/hessian.cuh"
#include "cuda/query/hessian.h"

namespace taproot::cuda {

/// Rows of W that a block has, and of a tile of the right-hand matrix.
inline constexpr int kStripRows = 32;
inline constexpr int kTileDepth = 32;
/// The stride between columns of the left-hand matrices: not a multiple of 32 banks, but of 16
/// bytes.
inline constexpr int kStripStride = kStripRows + 2;
/// The products are used while the bound 4 c[m] g[m] sum(c g) is at most 4 kMostTerms (n+1), in
/// units of max|v|.
inline constexpr double kMostTerms = 64;

/// What a block has in shared memory.
struct StripLayout {
  std::size_t mean, defect, position, left, right, between, bytes;

  TAPROOT_HOST_DEVICE StripLayout(int n, int columns) {
    const auto nodes = static_cast<std::size_t>(n) + 1;
    const std::size_t depth = (nodes + kTileDepth - 1) / kTileDepth * kTileDepth;
    std::size_t at = 0;
    const auto take = [&at](std::size_t size) {
      const std::size_t here = at;
      at = (at + size + 15) / 16 * 16;
      return here;
    };
    mean = take(8 * nodes);
    defect = take(8 * nodes);
    position = take(4 * nodes);
    left = take(std::size_t{8} * kTileDepth * kStripStride);
    right = take(std::size_t{8} * kTileDepth * static_cast<std::size_t>(columns));
    between = take(8 * depth * kStripStride);
    bytes = at;
  }
};

/// One sentence, as a block of kThreads sees it that multiplies kColumns columns at a time.
template <int kColumns, int kThreads>
struct Strip {
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr int kAcross = kColumns / 4;  ///< Threads that share a row of tiles.
  static constexpr int kTile = kStripRows * kAcross / kThreads;  ///< Rows of a thread's tile.

  int n;
  bool single;
  const double* weights;
  const double* gradient;
  EdgeReader direction;
  double down = 1;
  double root_mean = 0;
  double* mean;
  double* defect;
  std::int32_t* position;
  double* left;
  double* right;
  double* between;
  int first_row;
  int end_row;

  __device__ double weight(int h, int m) const {
    return weights[static_cast<std::int64_t>(h) * (n + 1) + m];
  }
  __device__ const double* row_of(int m) const {
    return gradient + static_cast<std::int64_t>(position[m]) * (n + 1);
  }
  __device__ double value(int h, int m, double v) const {
    return v * down - mean[m] - (h == 0 && single ? root_mean : 0.0);
  }

  /// Sums of the columns, and whether this way is accurate enough; all threads have the answer.
  /// `sums` is memory for 2 kThreads numbers, `per_warp` for 8 kWarps.
  __device__ bool prepare(const EdgeReader& scores, double* sums, double* per_warp, double& scale) {
    const int tid = static_cast<int>(threadIdx.x);
    const int column = tid % kColumns;
    const int group = tid / kColumns;
    constexpr int kGroups = kThreads / kColumns;
    const int from = single ? 1 : 0;
    double largest = 0;
    double poison = 0;
    for (int m0 = 0; m0 <= n; m0 += kColumns) {
      const int m = m0 + column;
      double sum = 0;
      double mass = 0;
      if (m > 0 && m <= n) {
#pragma unroll 8
        for (int h = group; h <= n; h += kGroups) {
          const double s = scores(h, m);
          const double v = direction(h, m);
          const double w = weight(h, m);
          if (h == m || !(s > -HUGE_VAL)) continue;
          poison += v * 0;
          largest = fmax(largest, fabs(v));
          if (h < from) continue;
          sum = fma(w, v, sum);
          mass += w;
        }
      }
      __syncthreads();
      sums[tid] = sum;
      sums[kThreads + tid] = mass;
      __syncthreads();
      if (group == 0 && m > 0 && m <= n) {
        for (int i = 1; i < kGroups; ++i) {
          sum += sums[tid + i * kColumns];
          mass += sums[kThreads + tid + i * kColumns];
        }
        mean[m] = sum;  // What they are for comes when the scale is known.
        defect[m] = mass;
      }
    }
    largest = block_max(largest, per_warp) + block_sum(poison, per_warp);
    if (!(largest > 1e-280 && largest < 1e280)) return false;
    const int exponent = ilogb(largest);
    down = scalbn(1.0, -exponent);
    scale = scalbn(1.0, exponent);
    // Of words by warp: largest and sum of c g and, single-root, of c G[ROOT] and A[ROOT] g, and
    // the mean of ROOT's values.
    double* of_warps = per_warp + kWarps;
    double most[3] = {};
    double all[4] = {};
    for (int m = 1 + warp_id(); m <= n; m += kWarps) {
      const double* row = row_of(m);
      double top = 0;
      for (int h = from + lane_id(); h <= n; h += kWarp) top = fmax(top, row[h]);
      top = warp_max(top);
      const double sum = mean[m] * down;
      const double mass = defect[m];
      const double of_root = weight(0, m);
      const double own = mass > 0 ? shortened(sum / mass) : direction(0, m) * down;
      __syncwarp();
      if (lane_id() == 0) {
        mean[m] = own;
        defect[m] = mass > 0 ? fma(own, mass, -sum) : 0.0;
      }
      const double terms[3] = {mass * top, single ? mass * row[0] : 0.0,
                               single ? of_root * top : 0.0};
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        most[i] = fmax(most[i], terms[i]);
        all[i] += terms[i];
      }
      if (single && of_root > 0) {
        all[3] += of_root * row[0] * (direction(0, m) * down - own);
      }
    }
    if (lane_id() == 0) {
#pragma unroll
      for (int i = 0; i < 3; ++i) of_warps[kWarps * i + warp_id()] = most[i];
#pragma unroll
      for (int i = 0; i < 4; ++i) of_warps[kWarps * (3 + i) + warp_id()] = all[i];
    }
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) {
#pragma unroll
      for (int i = 0; i < 3; ++i) most[i] = fmax(most[i], of_warps[kWarps * i + w]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {  // In one order for all warps, which must agree.
      all[i] = 0;
      for (int w = 0; w < kWarps; ++w) all[i] += of_warps[kWarps * (3 + i) + w];
    }
    root_mean = shortened(all[3]);
    const double allowed = kMostTerms * (n + 1);
    return most[0] * all[0] <= allowed && most[1] * all[2] <= allowed &&
           most[2] * all[1] <= allowed && fabs(root_mean) <= 4;
  }

  /// dA of kTileDepth heads from h0 on and the columns from m0 on.
  __device__ void load_tangents(int h0, int m0) const {
    const int column = static_cast<int>(threadIdx.x) % kColumns;
    const int m = m0 + column;
    constexpr int kStep = kThreads / kColumns;
#pragma unroll 8
    for (int k = static_cast<int>(threadIdx.x) / kColumns; k < kTileDepth; k += kStep) {
      const int h = h0 + k;
      double x = 0;
      if (m > 0 && m <= n && h <= n) {
        const double w = weight(h, m);
        const double v = direction(h, m);
        x = h == m ? defect[m] : w > 0 ? w * value(h, m, v) : 0.0;
      }
      right[k * kColumns + column] = x;
    }
  }

  /// G[h][j] of kTileDepth words j from j0 on and the heads from h0 on.
  __device__ void load_gradient(int j0, int h0) const {
    const int column = static_cast<int>(threadIdx.x) % kColumns;
    const int h = h0 + column;
    constexpr int kStep = kThreads / kColumns;
    const int at = h <= n ? position[h] : 0;
#pragma unroll 8
    for (int k = static_cast<int>(threadIdx.x) / kColumns; k < kTileDepth; k += kStep) {
      const int j = j0 + k;
      right[k * kColumns + column] = j > 0 && j <= n && h <= n ? row_of(j)[at] : 0.0;
    }
  }

  /// G[h][m] of kTileDepth heads from h0 on and the block's words m.
  __device__ void load_own_rows(int h0) const {
    const int k = static_cast<int>(threadIdx.x) % kTileDepth;
    const int h = h0 + k;
    const int at = h <= n ? position[h] : 0;
    constexpr int kStep = kThreads / kTileDepth;
#pragma unroll
    for (int r = static_cast<int>(threadIdx.x) / kTileDepth; r < kStripRows; r += kStep) {
      const int m = first_row + r;
      left[k * kStripStride + r] = m < end_row && h <= n ? row_of(m)[at] : 0.0;
    }
  }

  __device__ int column_of(int j) const {
    const int across = static_cast<int>(threadIdx.x) % kAcross;
    return j / 2 * (kColumns / 2) + across * 2 + j % 2;
  }
  __device__ int row_in_strip() const { return static_cast<int>(threadIdx.x) / kAcross * kTile; }

  /// Adds the product of [kTileDepth][kStripStride], transposed, and the right-hand tile.
  __device__ void multiply(const double* from, double (&c)[kTile][4]) const {
    if (first_row + row_in_strip() >= end_row) return;
    const int across = static_cast<int>(threadIdx.x) % kAcross * 2;
#pragma unroll 4
    for (int k = 0; k < kTileDepth; ++k) {
      double a[kTile];
#pragma unroll
      for (int i = 0; i < kTile; i += 2) {
        const double2 x =
            *reinterpret_cast<const double2*>(from + k * kStripStride + row_in_strip() + i);
        a[i] = x.x;
        a[i + 1] = x.y;
      }
      const auto* b = reinterpret_cast<const double2*>(right + k * kColumns + across);
      const double2 low = b[0];
      const double2 high = b[kColumns / 4];
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
        c[i][0] = fma(a[i], low.x, c[i][0]);
        c[i][1] = fma(a[i], low.y, c[i][1]);
        c[i][2] = fma(a[i], high.x, c[i][2]);
        c[i][3] = fma(a[i], high.y, c[i][3]);
      }
    }
  }

  /// The block's rows of Y, into `between` as [m][row].
  __device__ void find_between() const {
    for (int m0 = 0; m0 <= n; m0 += kColumns) {
      double c[kTile][4] = {};
      for (int h0 = 0; h0 <= n; h0 += kTileDepth) {
        __syncthreads();
        load_own_rows(h0);
        load_tangents(h0, m0);
        __syncthreads();
        multiply(left, c);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int m = m0 + column_of(j);
        if (m >= (n + kTileDepth) / kTileDepth * kTileDepth) continue;
#pragma unroll
        for (int i = 0; i < kTile; ++i) between[m * kStripStride + row_in_strip() + i] = c[i][j];
      }
    }
    __syncthreads();
  }

  /// W[m][m] of the block's words, into diagonal[kStripRows]. `parts` is memory for kThreads.
  __device__ void find_diagonal(double* parts, double* diagonal) const {
    const int m = first_row + lane_id();
    double sum = 0;
    if (m < end_row) {
      const int at = position[m];
#pragma unroll 4
      for (int j = 1 + warp_id(); j <= n; j += kWarps) {
        sum = fma(between[j * kStripStride + lane_id()], row_of(j)[at], sum);
      }
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < kStripRows) {
      for (int i = 1; i < kWarps; ++i) sum += parts[i * kWarp + lane_id()];
      diagonal[threadIdx.x] = sum;
    }
    __syncthreads();
  }

  /// Multiplies once more, and writes scale * H v.
  __device__ void write(const double* diagonal, double scale, const EdgeWriter& target) const {
    for (int h0 = 0; h0 <= n; h0 += kColumns) {
      double c[kTile][4] = {};
      for (int j0 = 0; j0 <= n; j0 += kTileDepth) {
        __syncthreads();
        load_gradient(j0, h0);
        __syncthreads();
        multiply(between + j0 * kStripStride, c);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int h = h0 + column_of(j);
        if (h > n) continue;
        const int at = position[h];
#pragma unroll
        for (int i = 0; i < kTile; ++i) {
          const int row = row_in_strip() + i;
          const int m = first_row + row;
          if (m >= end_row) continue;
          const double w = weight(h, m);
          double product = 0;
          if (h != m && w > 0) {
            const double p = detail::nearest_probability(w * row_of(m)[at]);
            const double slope = (h == 0 && single ? 0.0 : diagonal[row]) - c[i][j];
            product = scale * fma(p, value(h, m, direction(h, m)), w * slope);
          }
          target.write(h, m, product);
        }
      }
    }
  }
};

}  // namespace taproot::cuda
