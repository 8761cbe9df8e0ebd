// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/core/warp.cuh"
#include "cuda/sample/sample.h"
#include "sample/walk/alias.h"

namespace taproot::cuda {

/// Entry i is base[i * stride], so that the threads of a block have their entries side by side.
template <typename T>
struct Interleaved {
  T* base;
  int stride;
  __device__ T& operator[](int i) const { return base[static_cast<std::int64_t>(i) * stride]; }
};

/// A column of weights, with or without ROOT.
struct WeightColumn {
  const double* base;
  int stride;
  bool without_first;
  __device__ double operator[](int i) const {
    return i == 0 && without_first ? 0.0 : base[static_cast<std::int64_t>(i) * stride];
  }
};

// The two stacks of fill_alias() never hold more than `count` indices together, so they share an
// array: one grows from its beginning, the other from its end.
struct SharedStack {
  std::uint16_t* base;
  int stride;
  int last;  // Where the second stack begins; -1 for the first.
  struct Entry {
    std::uint16_t* at;
    __device__ operator std::int32_t() const { return *at; }
    __device__ const Entry& operator=(std::int32_t value) const {
      *at = static_cast<std::uint16_t>(value);
      return *this;
    }
    __device__ const Entry& operator=(const Entry& other) const {  // The index, not its place.
      *at = *other.at;
      return *this;
    }
  };
  __device__ Entry operator[](int i) const {
    const int at = last < 0 ? i : last - i;
    return {base + static_cast<std::int64_t>(at) * stride};
  }
};

inline constexpr int kTableThreads = 64;

/// Thread m fills the alias table of word m's heads, and thread 0 of a sentence that of the roots.
template <bool kShared>
__global__ void __launch_bounds__(kTableThreads) tables_kernel(SampleArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int b = static_cast<int>(blockIdx.y);
  if (args.summary.outcomes[b].status != kOk) return;
  const int n = args.batch.n(b);
  const int m = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (m == 0) args.given_up[b] = 0;
  if (m > n) return;
  const int count = m == 0 ? n : n + 1;
  const std::int64_t nodes = args.batch.max_n + 1;
  double* shares;
  int stride;
  if (kShared) {
    shares = reinterpret_cast<double*>(memory) + threadIdx.x;
    stride = static_cast<int>(blockDim.x);
  } else {
    stride = static_cast<int>(gridDim.x * blockDim.x);
    shares = args.scratch + b * nodes * stride * 2 + m;
  }
  auto* indices = reinterpret_cast<std::uint16_t*>(
      kShared ? reinterpret_cast<double*>(memory) + nodes * stride
              : args.scratch + b * nodes * stride * 2 + nodes * stride);
  indices += kShared ? static_cast<int>(threadIdx.x) : m;
  const SharedStack small{indices, stride, -1};
  const SharedStack large{indices, stride, count - 1};
  const std::int64_t cells = std::int64_t{n + 1} * (n + 1);
  const detail::AliasPlanes<std::uint32_t> table =
      detail::alias_planes_at(args.planes_of(b), count, cells, std::int64_t{m} * (n + 1));
  const auto fill = [&](auto weights) {
    detail::fill_alias(weights, count, table, Interleaved<double>{shares, stride}, small, large);
  };
  if (m == 0) {
    if (args.batch.single()) fill(args.summary.root_law + b * nodes);
    return;
  }
  const WeightColumn column{args.factors.weights + args.factors.at(b, nodes) + m, n + 1,
                            args.batch.single()};
  bool any = false;
  for (int h = 0; h <= n; ++h) any |= column[h] > 0;
  // A word without heads can only be the root, which no path leaves. But its heads are drawn with
  // those of its neighbors, and have to be numbers of nodes.
  for (int h = 0; !any && h <= n; ++h) table.first[h] = table.rest[h] = 0;
  for (int h = 0; !any && table.alias != nullptr && h <= n; ++h) table.alias[h] = 0;
  if (any) fill(column);
}

}  // namespace taproot::cuda
