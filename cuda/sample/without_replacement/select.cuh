// SPDX-License-Identifier: Apache-2.0
//
// The second half of a level of the beam: one block per sentence selects the children with the
// `width` largest Gumbels, in canonical order, by prefix and then by head. The selection is exact,
// and does not depend on how the device schedules.
#pragma once

#include "cuda/core/dependent.cuh"
#include "cuda/sample/without_replacement/expansion.cuh"

namespace taproot::cuda {

inline constexpr int kSelectThreads = kSelectWarps * kWarp;
inline constexpr int kBins = 2048;
inline constexpr int kBinsEach = kBins / kSelectThreads;
inline constexpr double kBinsPerUnit = 256;
inline constexpr int kAtOnce = 4;  // Loads in flight.
inline constexpr int kMostListed = kSelectThreads;
/// How many children and prefixes are held in shared memory; more are read from global memory.
struct SelectLayout {
  int children = kMostSharedChildren;
  int states;  ///< 0 if they are not in shared memory.

  TAPROOT_HOST_DEVICE explicit SelectLayout(int width) : states(width <= 8192 ? width + 1 : 0) {}
  TAPROOT_HOST_DEVICE std::size_t bytes() const {
    return static_cast<std::size_t>(children) * (sizeof(double) + sizeof(int)) +
           static_cast<std::size_t>(states) * sizeof(int);
  }
};

struct SelectShared {
  int bins[kBins];
  double list[kMostListed];
  double warp_low[kSelectWarps];
  double warp_high[kSelectWarps];
  int warp_count[kSelectWarps];
  double low;
  double high;
  double threshold;
  int listed;
  int above;
  int bin;
  int unresolved;
};

/// The sum over the threads before this one; `total` takes the sum over all threads.
__device__ inline int scan_block(int x, int* per_warp, int& total) {
  const int until = warp_scan(x);
  if (lane_id() == kWarp - 1) per_warp[warp_id()] = until;
  __syncthreads();
  const int sums = warp_scan(lane_id() < kSelectWarps ? per_warp[lane_id()] : 0);
  total = __shfl_sync(kAllLanes, sums, kSelectWarps - 1);
  const int warps_before = __shfl_up_sync(kAllLanes, sums, 1);
  const int before = __shfl_sync(kAllLanes, warps_before, warp_id());
  return (warp_id() == 0 ? 0 : before) + until - x;
}

/// Sets m.low and m.high from what each thread has found.
__device__ inline void reduce_range(double low, double high, SelectShared& m) {
  low = -warp_max(-low);
  high = warp_max(high);
  if (lane_id() == 0) {
    m.warp_low[warp_id()] = low;
    m.warp_high[warp_id()] = high;
  }
  __syncthreads();
  if (warp_id() == 0) {
    low = -warp_max(lane_id() < kSelectWarps ? -m.warp_low[lane_id()] : -HUGE_VAL);
    high = warp_max(lane_id() < kSelectWarps ? m.warp_high[lane_id()] : -HUGE_VAL);
    if (lane_id() == 0) {
      m.low = low;
      m.high = high;
    }
  }
  __syncthreads();
}

/// Where the children of a sentence are: in shared memory if they fit.
struct ChildList {
  const double* gumbel;
  const int* state;
  int count;
};

/// Bins from `low` on, with `scale` bins per unit; the last one has everything above.
struct Bins {
  double low;
  double scale;
  __device__ int operator()(double x) const {  // Monotone in x.
    return static_cast<int>(fmin(fmax((x - low) * scale, 0.0), kBins - 1.0));
  }
};

/// The bin of the wanted-th largest Gumbel, from the counts in m.bins; `wanted` becomes its rank
/// within the bin.
__device__ inline int find_bin(int& wanted, SelectShared& m) {
  const int top = kBins - 1 - kBinsEach * static_cast<int>(threadIdx.x);  // From the top.
  int own = 0;
  for (int i = 0; i < kBinsEach; ++i) own += m.bins[top - i];
  int total = 0;
  int above = scan_block(own, m.warp_count, total);
  if (above < wanted && wanted <= above + own) {
    int bin = top;
    for (; above + m.bins[bin] < wanted; --bin) above += m.bins[bin];
    m.bin = bin;
    m.above = above;
  }
  __syncthreads();
  wanted -= m.above;
  return m.bin;
}

/// The wanted-th largest of the Gumbels that are within(); there must be at most kMostListed.
template <typename Within>
__device__ inline double pick_listed(const ChildList& list, int wanted, SelectShared& m,
                                     Within&& within) {
  const int tid = static_cast<int>(threadIdx.x);
#pragma unroll 4
  for (int i = tid; i < list.count; i += kSelectThreads) {
    if (within(list.gumbel[i])) m.list[atomicAdd(&m.listed, 1)] = list.gumbel[i];
  }
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
    // Threads for which this holds have equal values.
    if (larger < wanted && wanted <= larger + equal) m.threshold = own;
  }
  __syncthreads();
  return m.threshold;
}

/// The wanted-th largest Gumbel of any list: bins of equal width narrow the range down until the
/// Gumbels left can be compared with one another.
__device__ __noinline__ double find_in_range(const ChildList& list, int wanted, SelectShared& m) {
  const int tid = static_cast<int>(threadIdx.x);
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  Bins bins{0, 0};
  int bin = 0;
  for (;;) {
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
#pragma unroll 4
    for (int i = tid; i < list.count; i += kSelectThreads) {
      const double x = list.gumbel[i];
      if (x < low || x > high || bins(x) != bin) continue;
      least = fmin(least, x);
      most = fmax(most, x);
    }
    reduce_range(least, most, m);
    low = m.low;
    high = m.high;
    if (!(high > low)) return low;
    bins = {low, kBins / (high - low)};
    for (int i = tid; i < kBins; i += kSelectThreads) m.bins[i] = 0;
    if (tid == 0) m.listed = 0;
    __syncthreads();
#pragma unroll 4
    for (int i = tid; i < list.count; i += kSelectThreads) {
      const double x = list.gumbel[i];
      if (x >= low && x <= high) atomicAdd(&m.bins[bins(x)], 1);
    }
    __syncthreads();
    bin = find_bin(wanted, m);
    if (m.bins[bin] > kMostListed) continue;
    return pick_listed(list, wanted, m,
                       [=](double x) { return x >= low && x <= high && bins(x) == bin; });
  }
}

/// Loads the list into shared memory, if it fits in `room`, and finds the width-th largest Gumbel;
/// -inf if there are not that many. If there is a bar, the result is expected within a few units
/// above it. m.bins and m.listed must be 0.
__device__ inline double find_threshold(const BeamArgs& a, std::int64_t at, double bar,
                                        ChildList& list, int room, double* gumbels, int* its_states,
                                        SelectShared& m) {
  const int tid = static_cast<int>(threadIdx.x);
  const bool fits = list.count <= room;
  list.gumbel = fits ? gumbels : a.list_gumbel + at;
  list.state = fits ? its_states : a.list_state + at;
  const Bins bins{bar, kBinsPerUnit};
  const bool barred = bar > -HUGE_VAL;
  if (fits || barred) {
    for (int i0 = tid; i0 < list.count; i0 += kAtOnce * kSelectThreads) {
      double x[kAtOnce];
      int s[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int i = min(i0 + j * kSelectThreads, list.count - 1);
        x[j] = a.list_gumbel[at + i];
        s[j] = a.list_state[at + i];
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int i = i0 + j * kSelectThreads;
        if (i >= list.count) break;
        if (fits) {
          gumbels[i] = x[j];
          its_states[i] = s[j];
        }
        if (barred) atomicAdd(&m.bins[bins(x[j])], 1);
      }
    }
    __syncthreads();
  }
  int wanted = a.width;
  if (list.count < wanted) return -HUGE_VAL;
  if (barred) {
    const int bin = find_bin(wanted, m);
    if (bin < kBins - 1 && m.bins[bin] <= kMostListed) {
      return pick_listed(list, wanted, m, [=](double x) { return bins(x) == bin; });
    }
  }
  __syncthreads();
  return find_in_range(list, a.width, m);
}

struct OwnScratch {
  double* memory;
  __device__ double* take(int, int) { return memory; }
  __device__ void give() { __syncwarp(); }
};

/// For prefixes that were left open and may reach the threshold: finds their law again, from the
/// row or, if that is not accurate enough, by contraction, and makes the children that are wanted.
template <int kChunk>
__device__ __noinline__ void resolve(const BeamArgs& a, int b, int level, int n, int states,
                                     double threshold, const SelectShared& m) {
  const int now = level & 1;
  OwnScratch scratch{a.select_scratch + (static_cast<std::int64_t>(b) * kSelectWarps + warp_id()) *
                                            exact_scratch(a.c.batch.max_n)};
  // They are listed in the bins, unless there are too many for those.
  const bool listed = m.unresolved <= kBins;
  for (int i = warp_id(); i < (listed ? m.unresolved : states); i += kSelectWarps) {
    const int s = listed ? m.bins[i] : i;
    const std::int64_t own = static_cast<std::int64_t>(b) * a.width + s;
    if (!listed && (a.bound[own] == -HUGE_VAL || a.bound[own] < threshold)) continue;
    Growth<kChunk> growth(a, b, s, level, n, states, a.leads[now] + own * a.c.ld);
    growth.sink = a.sink[now][own] / 2;
    growth.count = growth.base = a.child_count[own];
    growth.last = a.last[own];
    growth.draw();
    const bool rows = a.sink[now][own] % 2 != 0 && level > 0 && growth.sink != level;
    if (rows) {
      double row[kChunk];
      int ends[kChunk];
      load(
          a.rows + ((static_cast<std::int64_t>(level) * a.c.batch.size + b) * a.width + s) * a.c.ld,
          a.c.ld, row);
#pragma unroll
      for (int r = 0; r < kChunk; ++r) {
        const int h = lane_id() * kChunk + r;
        ends[r] = h < a.c.ld ? growth.leads[h] : 0;
      }
      growth.error = detail::row_error(a.visits[now][own], a.amplification[now][own]);
      growth.use_row(row, ends);
      growth.remove_taken();
    } else if (level == 0) {
      load(a.c.roots + static_cast<std::int64_t>(b) * a.c.ld, a.c.ld, growth.law.p);
      growth.remove_taken();
    } else {
      growth.make_exact(scratch.take(n, level));
    }
    growth.look_ahead();
    growth.grow(threshold, true, 0x7fffffff, scratch);
    growth.write();
    if (lane_id() == 0) {
      a.child_count[own] = growth.count;
      a.bound[own] = -HUGE_VAL;
    }
    __syncwarp();
  }
}

template <int kChunk>
__global__ void __launch_bounds__(kSelectThreads, 2)
    select_kernel(const __grid_constant__ BeamArgs a, int level) {
  __shared__ SelectShared m;
  const int tid = static_cast<int>(threadIdx.x);
  const int b = static_cast<int>(blockIdx.x);
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  double* gumbels = reinterpret_cast<double*>(block_memory);
  const SelectLayout layout(a.width);
  int* its_states = reinterpret_cast<int*>(gumbels + layout.children);
  // How many children of each prefix are selected; later, where they begin.
  int* chosen = layout.states > 0 ? its_states + layout.children : a.selected + base + b;
  let_next_start();
  for (int i = tid; i < kBins; i += kSelectThreads) m.bins[i] = 0;
  for (int s = tid; s < layout.states; s += kSelectThreads) chosen[s] = 0;
  if (tid == 0) m.listed = m.unresolved = 0;
  __syncthreads();
  wait_for_previous();
  const ConditionalsArgs& c = a.c;
  // These loads are issued at once, to wait only once.
  const std::int32_t status = c.outcomes[b].status;
  const int n = c.batch.n(b);
  const int states = a.states[b];
  const double bar = a.bar[b];
  ChildList list{nullptr, nullptr, states + a.list_size[b]};
  if (status != kOk || level > n) return;
  const int now = level & 1;
  const int nodes = c.batch.max_n + 1;
  const std::int64_t at = base * nodes;
  double threshold = find_threshold(a, at, bar, list, layout.children, gumbels, its_states, m);
  if (bar == -HUGE_VAL) {  // With a bar nothing was left open.
    for (int s = tid; s < states; s += kSelectThreads) {
      const double bound = a.bound[base + s];
      if (!(bound > -HUGE_VAL && bound >= threshold)) continue;
      const int i = atomicAdd(&m.unresolved, 1);
      if (i < kBins) m.bins[i] = s;  // The counts are not needed any more.
    }
    __syncthreads();
    if (m.unresolved != 0) {
      resolve<kChunk>(a, b, level, n, states, threshold, m);
      __threadfence_block();
      __syncthreads();
      list.count = states + *static_cast<volatile std::int32_t*>(a.list_size + b);
      threshold = find_threshold(a, at, bar, list, layout.children, gumbels, its_states, m);
    }
  }
  if (layout.states == 0) {
    for (int s = tid; s <= states; s += kSelectThreads) chosen[s] = 0;
    __syncthreads();
  }
#pragma unroll 4
  for (int i = tid; i < list.count; i += kSelectThreads) {
    if (list.gumbel[i] >= threshold) atomicAdd(chosen + list.state[i], 1);
  }
  __syncthreads();
  const int each = (states + kSelectThreads - 1) / kSelectThreads;
  int sum = 0;
  for (int s = tid * each; s < min(states, (tid + 1) * each); ++s) sum += chosen[s];
  int taken = 0;
  int begin = scan_block(sum, m.warp_count, taken);
  for (int s = tid * each; s < min(states, (tid + 1) * each); ++s) {
    const int own = chosen[s];
    chosen[s] = begin;
    begin += own;
  }
  if (tid == 0) chosen[states] = taken;
  __syncthreads();
  const std::int64_t next = 1 - now;
  for (int i0 = tid; i0 < list.count; i0 += kAtOnce * kSelectThreads) {
    int state[kAtOnce];
    int head[kAtOnce];
    double log_p[kAtOnce];
    bool wanted[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int i = i0 + j * kSelectThreads;
      wanted[j] = i < list.count && list.gumbel[i] >= threshold;
      if (!wanted[j]) continue;
      state[j] = list.state[i];
      head[j] = a.list_head[at + i];
      log_p[j] = a.log_p[now][base + state[j]] + a.list_log_p[at + i];
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      if (!wanted[j]) continue;
      const double g = list.gumbel[i0 + j * kSelectThreads];
      int rank = chosen[state[j]];
      const int siblings = chosen[state[j] + 1] - rank;
      if (siblings > 1) {  // The selected ones are the first that the prefix made.
        const std::int32_t* heads = a.child_head + (base + state[j]) * nodes;
        for (int k = 0; k < siblings; ++k) rank += heads[k] < head[j] ? 1 : 0;
      }
      if (rank >= a.width) continue;  // There are more than `width` only if Gumbels are equal.
      a.parent[base + rank] = state[j];
      a.head[base + rank] = head[j];
      a.gumbel[next][base + rank] = g;
      a.log_p[next][base + rank] = log_p[j];
    }
  }
  if (tid == 0) {
    a.states[b] = min(taken, a.width);
    a.bar[b] = taken >= a.width ? threshold : -HUGE_VAL;
    a.list_size[b] = 0;
  }
}

}  // namespace taproot::cuda
