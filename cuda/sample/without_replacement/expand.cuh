// SPDX-License-Identifier: Apache-2.0
//
// One level of the beam, first half: every prefix gets its word's row and law, and its children.
#pragma once

#include "cuda/sample/without_replacement/expansion.cuh"

namespace taproot::cuda {

inline constexpr int kExpandWarps = 8;

/// A place to contract in, shared by the warps whose block has it: contractions are rare.
struct LockedScratch {
  double* memory;
  std::int32_t* lock;

  __device__ double* take() {
    if (lane_id() == 0) {
      while (atomicCAS(lock, 0, 1) != 0) __nanosleep(500);
    }
    __syncwarp();
    __threadfence();
    return memory;
  }
  __device__ void give() {
    __syncwarp();
    __threadfence();
    if (lane_id() == 0) atomicExch(lock, 0);
    __syncwarp();
  }
};

/// What a prefix has besides its Gumbel and its probability.
struct Prefix {
  double visits;
  double amplification;
  int sink;
  bool rows;
};

/// row = row i of K before anything is decided; see Conditionals::start_row().
template <int kChunk>
__device__ inline void start_row(const ConditionalsArgs& c, int b, int sink, int i,
                                 double (&row)[kChunk]) {
  const double* gradient = c.gradient + static_cast<std::int64_t>(b) * (c.batch.max_n + 1) * c.ld;
  const double* own = gradient + static_cast<std::int64_t>(i) * c.ld;
  const double base = own[sink];
  load(own, c.ld, row);
#pragma unroll
  for (int r = 0; r < kChunk; ++r) row[r] = base - row[r];
  if (sink == 0) return;
  const double* tree_sum = c.tree_sum + static_cast<std::int64_t>(b) * c.ld;
  const double factor = tree_sum[i] / tree_sum[sink];
  double of_sink[kChunk];
  load(gradient + static_cast<std::int64_t>(sink) * c.ld, c.ld, of_sink);
#pragma unroll
  for (int r = 0; r < kChunk; ++r) row[r] = fma(factor, of_sink[r], row[r]);
}

/// Brings the row of word `level` up to date for the words decided: the rows of `kDepth` of them
/// are on their way at once.
template <int kChunk>
__device__ inline void reduce_row(const BeamArgs& a, int b, int level, const Step* path,
                                  double (&row)[kChunk]) {
  constexpr int kDepth = kChunk <= 4 ? 8 : kChunk <= 8 ? 4 : 1;
  const std::int64_t level_stride = static_cast<std::int64_t>(a.c.batch.size) * a.width * a.c.ld;
  const double* rows = a.rows + static_cast<std::int64_t>(b) * a.width * a.c.ld;
  for (int first = 1; first < level; first += kWarp) {
    Step step{0, 0, 0};
    if (first + lane_id() < level) step = path[first + lane_id()];
    const int steps = min(kWarp, level - first);
    for (int j0 = 0; j0 < steps; j0 += kDepth) {
      double others[kDepth][kChunk];
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        const int j = min(j0 + d, steps - 1);
        const std::int64_t at = __shfl_sync(kAllLanes, step.row, j);
        load(rows + (first + j) * level_stride + at * a.c.ld, a.c.ld, others[d]);
      }
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        const int j = j0 + d;
        if (j >= steps) break;
        const double inverse = __shfl_sync(kAllLanes, step.inverse_p, j);
        const int head = __shfl_sync(kAllLanes, step.head, j);
        if (inverse == 0) continue;  // The sink: it has no row.
        const double factor = (entry(row, head) - entry(row, first + j)) * inverse;
#pragma unroll
        for (int r = 0; r < kChunk; ++r) row[r] = fma(factor, others[d][r], row[r]);
      }
    }
  }
}

/// From the parent's to the prefix's own: path, leads and what is known of its rows.
template <int kChunk>
__device__ inline Prefix follow(const BeamArgs& a, int b, int s, int level, int n) {
  const ConditionalsArgs& c = a.c;
  const int now = level & 1;
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  const std::int64_t own = base + s;
  std::uint16_t* leads = a.leads[now] + own * c.ld;
  const double* visits = c.visits + static_cast<std::int64_t>(b) * c.ld;
  Prefix prefix{0, 1, 0, false};
  if (level <= 1 && !(c.batch.single && level == 1)) {  // The first.
    if (!c.batch.single) {
      prefix.rows = detail::row_error(visits[0], 1) <= kMostError;
      prefix.visits = prefix.rows ? visits[0] : 0.0;
    }
    for (int h = lane_id(); h < c.ld; h += kWarp) leads[h] = static_cast<std::uint16_t>(h);
  } else {
    const int word = level - 1;
    const int head = a.head[own];
    const std::int64_t parent = base + a.parent[own];
    if (word == 0) {
      prefix.sink = head;
      prefix.visits = visits[head];
      prefix.rows = detail::row_error(prefix.visits, 1) <= kMostError;
      for (int h = lane_id(); h < c.ld; h += kWarp) {
        leads[h] = static_cast<std::uint16_t>(h == 0 ? head : h);
      }
    } else {
      const int before = 1 - now;
      prefix = {a.visits[before][parent], a.amplification[before][parent],
                a.sink[before][parent] / 2, a.sink[before][parent] % 2 != 0};
      Step last{0, a.parent[own], head};
      const std::uint16_t* old = a.leads[before] + parent * c.ld;
      const bool is_sink = prefix.sink == word;
      const std::uint16_t end = old[head];
      for (int h = lane_id(); h < c.ld; h += kWarp) {
        leads[h] = !is_sink && old[h] == word ? end : old[h];
      }
      if (prefix.rows && !is_sink) {
        const double* row =
            a.rows +
            ((static_cast<std::int64_t>(word) * c.batch.size + b) * a.width + a.parent[own]) * c.ld;
        const double pivot = row[word] - row[head];
        last.inverse_p = 1 / pivot;
        const double* top = c.top + static_cast<std::int64_t>(b) * c.ld;
        const double* tree_sum = c.tree_sum + static_cast<std::int64_t>(b) * c.ld;
        double scale = top[word];
        if (prefix.sink != 0) {
          scale = fmax(scale, tree_sum[word] / tree_sum[prefix.sink] * top[prefix.sink]);
        }
        prefix.amplification *= detail::pivot_amplification(fmax(row[word], scale), pivot);
      }
      const int nodes = c.batch.max_n + 1;
      const Step* from = a.path[before] + parent * nodes;
      Step* to = a.path[now] + own * nodes;
      for (int l = 1 + lane_id(); l < word; l += kWarp) to[l] = from[l];
      if (lane_id() == 0) to[word] = last;
    }
  }
  __syncwarp();
  return prefix;
}

template <int kChunk>
__global__ void __launch_bounds__(kExpandWarps* kWarp)
    expand_kernel(const __grid_constant__ BeamArgs a, int level) {
  const ConditionalsArgs& c = a.c;
  const int b = static_cast<int>(blockIdx.y);
  if (c.outcomes[b].status != kOk) return;
  const int n = c.batch.n(b);
  if (level > n) return;
  const int now = level & 1;
  const int states = a.states[b];
  const double bar = a.bar[b];
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  const int slot = static_cast<int>((blockIdx.y * gridDim.x + blockIdx.x) % a.slots);
  LockedScratch scratch{
      a.scratch + static_cast<std::int64_t>(slot) *
                      ((c.batch.max_n + 1) * (c.batch.max_n + 1) + 4 * (c.batch.max_n + 1)),
      a.locks + slot};
  for (int s = static_cast<int>(blockIdx.x) * kExpandWarps + warp_id(); s < states;
       s += static_cast<int>(gridDim.x) * kExpandWarps) {
    const std::int64_t own = base + s;
    Prefix prefix = follow<kChunk>(a, b, s, level, n);
    Expansion<kChunk> e{a,
                        b,
                        s,
                        level,
                        n,
                        prefix.sink,
                        a.log_p[now][own],
                        a.leads[now] + own * c.ld,
                        {},
                        0,
                        0,
                        a.gumbel[now][own],
                        false};
    if (level == 0) {
      load(c.roots + static_cast<std::int64_t>(b) * c.ld, c.ld, e.law.p);
      e.law.sum();
    } else if (prefix.sink == level) {  // It has its head: ROOT.
#pragma unroll
      for (int r = 0; r < kChunk; ++r) e.law.p[r] = lane_id() == 0 && r == 0 ? 1.0 : 0.0;
      e.law.sum();
    } else {
      if (prefix.rows) {
        double row[kChunk];
        start_row(c, b, prefix.sink, level, row);
        reduce_row(a, b, level, a.path[now] + own * (c.batch.max_n + 1), row);
        store(
            row, c.ld,
            a.rows + ((static_cast<std::int64_t>(level) * c.batch.size + b) * a.width + s) * c.ld);
        const double diagonal = entry(row, level);
        prefix.visits =
            fmax(prefix.visits, diagonal * c.sums[static_cast<std::int64_t>(b) * c.ld + level]);
        e.error = detail::row_error(prefix.visits, prefix.amplification);
        prefix.rows = e.error <= kMostError;
        if (prefix.rows) {
          double w[kChunk];
          load(e.weights() + static_cast<std::int64_t>(level) * c.ld, c.ld, w);
#pragma unroll
          for (int r = 0; r < kChunk; ++r) {
            const int h = lane_id() * kChunk + r;
            const bool back = h < c.ld && e.leads[h] == level;
            e.law.p[r] = back ? 0.0 : w[r] * fmax(diagonal - row[r], 0.0);
          }
          e.law.sum();
        }
      }
      if (!prefix.rows) {
        double* memory = scratch.take();
        e.make_exact(memory);
        scratch.give();
      }
    }
    // At least one child: the first has its prefix's Gumbel. Where nothing bars the others yet, the
    // tails that rows do not tell of are left to the selection.
    e.grow(bar, bar > -HUGE_VAL, scratch);
    if (lane_id() == 0) {
      a.child_count[own] = e.count;
      a.next[own] = e.next;
      a.uncertain[own] = e.uncertain ? 1 : 0;
      a.visits[now][own] = prefix.visits;
      a.amplification[now][own] = prefix.amplification;
      a.sink[now][own] = 2 * prefix.sink + (prefix.rows ? 1 : 0);
    }
    __syncwarp();
  }
}

}  // namespace taproot::cuda
