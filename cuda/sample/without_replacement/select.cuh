// SPDX-License-Identifier: Apache-2.0
//
// One level of the beam, second half: the children with the `width` largest Gumbels, by one block a
// sentence, in canonical order: by prefix, then by head. Exact, and the same whatever the schedule.
#pragma once

#include "cuda/sample/without_replacement/expansion.cuh"

namespace taproot::cuda {

inline constexpr int kSelectThreads = kSelectWarps * kWarp;
inline constexpr int kBins = 2048;
inline constexpr int kGroup = 8;  // Lanes that go through one prefix's children.
inline constexpr int kMostListed = kSelectThreads;

struct SelectShared {
  int bins[kBins];
  double list[kMostListed];
  double warp_low[kSelectWarps];
  double warp_high[kSelectWarps];
  int warp_count[kSelectWarps];
  double low;
  double high;
  double threshold;
  int count;
  int listed;
  int above;
  int bin;
  int unresolved;
  int total;
};

/// visit(prefix, child, Gumbel) for all children.
template <typename Visit>
__device__ inline void for_each_child(const BeamArgs& a, int b, int states, Visit&& visit) {
  const int nodes = a.c.batch.max_n + 1;
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  const int lane = static_cast<int>(threadIdx.x) % kGroup;
  for (int s = static_cast<int>(threadIdx.x) / kGroup; s < states; s += kSelectThreads / kGroup) {
    const int count = a.child_count[base + s];
    for (int i = lane; i < count; i += kGroup) {
      visit(s, i, a.child_gumbel[(base + s) * nodes + i]);
    }
  }
}

/// Sum over the threads before this one; `total` takes that over all.
__device__ inline int scan_block(int x, int* per_warp, int& total) {
  const int until = warp_scan(x);
  if (lane_id() == kWarp - 1) per_warp[warp_id()] = until;
  __syncthreads();
  if (warp_id() == 0) {
    const int sum = warp_scan(per_warp[lane_id()]);
    per_warp[lane_id()] = sum;
  }
  __syncthreads();
  const int before = (warp_id() == 0 ? 0 : per_warp[warp_id() - 1]) + until - x;
  total = per_warp[kSelectWarps - 1];
  __syncthreads();
  return before;
}

/// The smallest and largest Gumbel within [from, to], and how many.
__device__ inline void find_range(const BeamArgs& a, int b, int states, double from, double to,
                                  SelectShared& m) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  int count = 0;
  for_each_child(a, b, states, [&](int, int, double g) {
    if (g < from || g > to) return;
    low = fmin(low, g);
    high = fmax(high, g);
    ++count;
  });
  low = -warp_max(-low);
  high = warp_max(high);
  count = warp_sum(count);
  if (lane_id() == 0) {
    m.warp_low[warp_id()] = low;
    m.warp_high[warp_id()] = high;
    m.warp_count[warp_id()] = count;
  }
  __syncthreads();
  if (warp_id() == 0) {
    low = -warp_max(-m.warp_low[lane_id()]);
    high = warp_max(m.warp_high[lane_id()]);
    count = warp_sum(m.warp_count[lane_id()]);
    if (lane_id() == 0) {
      m.low = low;
      m.high = high;
      m.count = count;
    }
  }
  __syncthreads();
}

/// The width-th largest Gumbel; -inf if there are not more than that many. Bins of equal width
/// narrow the range down until what is left can be compared one by one.
__device__ inline double find_threshold(const BeamArgs& a, int b, int states, SelectShared& m) {
  find_range(a, b, states, -HUGE_VAL, HUGE_VAL, m);
  const int tid = static_cast<int>(threadIdx.x);
  if (m.count <= a.width) return -HUGE_VAL;
  int wanted = a.width;  // From the top of [low, high].
  for (;;) {
    const double low = m.low;
    const double high = m.high;
    if (!(high > low)) return low;
    const double scale = kBins / (high - low);
    const auto bin_of = [=](double g) {
      return min(kBins - 1, static_cast<int>((g - low) * scale));  // Monotone in g.
    };
    for (int i = tid; i < kBins; i += kSelectThreads) m.bins[i] = 0;
    if (tid == 0) m.listed = 0;
    __syncthreads();
    for_each_child(a, b, states, [&](int, int, double g) {
      if (g >= low && g <= high) atomicAdd(&m.bins[bin_of(g)], 1);
    });
    __syncthreads();
    // Thread t has two bins, from the top.
    const int first = m.bins[kBins - 1 - 2 * tid];
    const int second = m.bins[kBins - 2 - 2 * tid];
    int total = 0;
    const int above = scan_block(first + second, m.warp_count, total);
    if (above < wanted && wanted <= above + first) {
      m.bin = kBins - 1 - 2 * tid;
      m.above = above;
    } else if (above + first < wanted && wanted <= above + first + second) {
      m.bin = kBins - 2 - 2 * tid;
      m.above = above + first;
    }
    __syncthreads();
    const int bin = m.bin;
    wanted -= m.above;
    if (m.bins[bin] <= kMostListed) {
      for_each_child(a, b, states, [&](int, int, double g) {
        if (g >= low && g <= high && bin_of(g) == bin) m.list[atomicAdd(&m.listed, 1)] = g;
      });
      __syncthreads();
      const int listed = m.listed;
      if (tid < listed) {
        const double own = m.list[tid];
        int larger = 0;
        int equal = 0;
        for (int i = 0; i < listed; ++i) {
          larger += m.list[i] > own ? 1 : 0;
          equal += m.list[i] == own ? 1 : 0;
        }
        if (larger < wanted && wanted <= larger + equal) m.threshold = own;  // All that do agree.
      }
      __syncthreads();
      return m.threshold;
    }
    // Once more, within the bin: the least and the largest in it.
    double bin_low = HUGE_VAL;
    double bin_high = -HUGE_VAL;
    for_each_child(a, b, states, [&](int, int, double g) {
      if (g < low || g > high || bin_of(g) != bin) return;
      bin_low = fmin(bin_low, g);
      bin_high = fmax(bin_high, g);
    });
    bin_low = -warp_max(-bin_low);
    bin_high = warp_max(bin_high);
    if (lane_id() == 0) {
      m.warp_low[warp_id()] = bin_low;
      m.warp_high[warp_id()] = bin_high;
    }
    __syncthreads();
    if (warp_id() == 0) {
      bin_low = -warp_max(-m.warp_low[lane_id()]);
      bin_high = warp_max(m.warp_high[lane_id()]);
      if (lane_id() == 0) {
        m.low = bin_low;
        m.high = bin_high;
      }
    }
    __syncthreads();
  }
}

struct OwnScratch {
  double* memory;
  __device__ double* take() { return memory; }
  __device__ void give() { __syncwarp(); }
};

/// Prefixes whose tail rows do not tell of, and which may reach the threshold: by contraction.
template <int kChunk>
__device__ inline void resolve(const BeamArgs& a, int b, int level, int n, int states,
                               double threshold) {
  const int now = level & 1;
  const int nodes = a.c.batch.max_n + 1;
  OwnScratch scratch{a.select_scratch + (static_cast<std::int64_t>(b) * kSelectWarps + warp_id()) *
                                            (static_cast<std::int64_t>(nodes) * nodes + 4 * nodes)};
  for (int s = warp_id(); s < states; s += kSelectWarps) {
    const std::int64_t own = static_cast<std::int64_t>(b) * a.width + s;
    if (a.uncertain[own] == 0 || a.next[own] < threshold) continue;
    Expansion<kChunk> e{a,
                        b,
                        s,
                        level,
                        n,
                        a.sink[now][own] / 2,
                        a.log_p[now][own],
                        a.leads[now] + own * a.c.ld,
                        {},
                        0,
                        a.child_count[own],
                        0,
                        false};
    e.make_exact(scratch.take());
    e.look_ahead(a.child_gumbel[e.child(e.count - 1)]);
    e.grow(threshold, true, scratch);
    if (lane_id() == 0) {
      a.child_count[own] = e.count;
      a.uncertain[own] = 0;
    }
    __syncwarp();
  }
}

template <int kChunk>
__global__ void __launch_bounds__(kSelectThreads)
    select_kernel(const __grid_constant__ BeamArgs a, int level) {
  __shared__ SelectShared m;
  const ConditionalsArgs& c = a.c;
  const int b = static_cast<int>(blockIdx.x);
  if (c.outcomes[b].status != kOk) return;
  const int n = c.batch.n(b);
  if (level > n) return;
  const int states = a.states[b];
  const int now = level & 1;
  const int nodes = c.batch.max_n + 1;
  const int tid = static_cast<int>(threadIdx.x);
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  if (tid == 0) m.unresolved = 0;
  double threshold = find_threshold(a, b, states, m);
  bool unresolved = false;
  for (int s = tid; s < states; s += kSelectThreads) {
    unresolved |= a.uncertain[base + s] != 0 && a.next[base + s] >= threshold;
  }
  if (unresolved) m.unresolved = 1;
  __syncthreads();
  if (m.unresolved != 0) {
    resolve<kChunk>(a, b, level, n, states, threshold);
    __syncthreads();
    threshold = find_threshold(a, b, states, m);
  }
  // Children come with falling Gumbels: those selected are the first of each prefix.
  const int lane = tid % kGroup;
  const unsigned group_mask = 0xffu << (lane_id() / kGroup * kGroup);
  for (int s = tid / kGroup; s < states; s += kSelectThreads / kGroup) {
    const int count = a.child_count[base + s];
    int chosen = 0;
    for (int i = lane; i < count; i += kGroup) {
      chosen += a.child_gumbel[(base + s) * nodes + i] >= threshold ? 1 : 0;
    }
    for (int step = kGroup / 2; step > 0; step /= 2) {
      chosen += __shfl_xor_sync(group_mask, chosen, step);
    }
    if (lane == 0) a.selected[base + s] = chosen;
  }
  __syncthreads();
  int taken = 0;
  for (int first = 0; first < states; first += kSelectThreads) {
    const int s = first + tid;
    const int chosen = s < states ? a.selected[base + s] : 0;
    int total = 0;
    const int before = scan_block(chosen, m.warp_count, total);
    // Where a prefix's children begin, in place of how many they are.
    if (s < states) a.selected[base + s] = taken + before;
    taken += total;
  }
  if (tid == 0) m.total = taken;
  __syncthreads();
  const std::int64_t next_level = 1 - now;
  for (int s = tid / kGroup; s < states; s += kSelectThreads / kGroup) {
    const int begin = a.selected[base + s];
    const int end = s + 1 < states ? a.selected[base + s + 1] : taken;
    const int chosen = end - begin;
    const std::int64_t children = (base + s) * nodes;
    const double log_p = a.log_p[now][base + s];
    for (int i = lane; i < chosen; i += kGroup) {
      const int head = a.child_head[children + i];
      int rank = begin;
      for (int j = 0; j < chosen; ++j) rank += a.child_head[children + j] < head ? 1 : 0;
      if (rank >= a.width) continue;  // More than `width` only if Gumbels are equal.
      a.parent[base + rank] = s;
      a.head[base + rank] = head;
      a.gumbel[next_level][base + rank] = a.child_gumbel[children + i];
      a.log_p[next_level][base + rank] = log_p + a.child_log_p[children + i];
    }
  }
  if (tid == 0) {
    a.states[b] = min(m.total, a.width);
    a.bar[b] = m.total >= a.width ? threshold : -HUGE_VAL;
  }
}

}  // namespace taproot::cuda
