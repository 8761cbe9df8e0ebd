// SPDX-License-Identifier: Apache-2.0
//
// The first half of a level of the beam: every prefix gets the row and the law of its word, and its
// children.
//
// Words come in blocks. At the first level of a block the rows of all its words are reduced for the
// words before the block, in one pass over the prefix's ancestors, so that each ancestor's row is
// read once for several words. Later levels of the block start from there: the ancestor at the
// first level is their anchor.
#pragma once

#include "cuda/core/dependent.cuh"
#include "cuda/sample/without_replacement/expansion.cuh"

namespace taproot::cuda {

/// Warps per block. In float32 each of them needs much shared memory.
template <bool kNarrow>
inline constexpr int kExpandWarps = kNarrow ? 2 : 4;
inline constexpr int kNoCap = 0x7fffffff;

/// Bytes of shared memory that a warp has for a contraction at a level: in double enough for the
/// last 42 words, in float enough for all.
template <bool kNarrow>
TAPROOT_HOST_DEVICE constexpr std::int64_t expand_bytes(int max_n, int level) {
  return kNarrow ? static_cast<std::int64_t>(sizeof(float)) * narrow_scratch(max_n, level) : 16800;
}

/// Memory for a contraction: shared memory where that suffices, else one of several places in
/// global memory, which a lock gives to one warp at a time.
struct SharedScratch {
  double* fast;
  std::int64_t room;  ///< Bytes of it.
  double* slow;
  std::int32_t* lock;
  bool is_fast;

  __device__ double* take(int n, int i) {
    is_fast = exact_scratch(n, i) * static_cast<std::int64_t>(sizeof(double)) <= room;
    if (is_fast) return fast;
    if (lane_id() == 0) {
      while (atomicCAS(lock, 0, 1) != 0) __nanosleep(200);
    }
    __syncwarp();
    __threadfence();
    return slow;
  }
  __device__ void give() {
    __syncwarp();
    if (is_fast) return;
    __threadfence();
    if (lane_id() == 0) atomicExch(lock, 0);
    __syncwarp();
  }
};

/// What is known of a prefix besides its Gumbel and its probability.
struct Prefix {
  double visits;
  double amplification;
  int sink;
  int anchor;
  bool rows;
};

/// Sets `row` to row i of K before anything is decided; see Conditionals::start_row().
template <int kChunk>
__device__ __forceinline__ void start_row(const ConditionalsArgs& c, int b, int sink, int i,
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

/// Updates kRows rows for the words first, ..., first + steps - 1; lane j has the step of word
/// first + j. The rows of kDepth of these words are loaded at once.
template <int kChunk, int kRows, int kDepth>
__device__ __forceinline__ void reduce_rows(const BeamArgs& a, int b, int first, int steps,
                                            const Step& step, double (&row)[kRows][kChunk]) {
  const std::int64_t level_stride = static_cast<std::int64_t>(a.c.batch.size) * a.width * a.c.ld;
  const double* rows = a.rows + static_cast<std::int64_t>(b) * a.width * a.c.ld;
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
      if (inverse == 0) continue;  // The sink has no row.
      const int head = __shfl_sync(kAllLanes, step.head, j);
#pragma unroll
      for (int w = 0; w < kRows; ++w) {
        const double factor = (entry(row[w], head) - entry(row[w], first + j)) * inverse;
#pragma unroll
        for (int r = 0; r < kChunk; ++r) row[w][r] = fma(factor, others[d][r], row[w][r]);
      }
    }
  }
}

/// Makes path, leads and what is known of the rows of a prefix from those of its parent. `step`
/// takes the steps of the decided words of the block, one per lane.
template <int kChunk, bool kNarrow>
__device__ __forceinline__ Prefix follow(const BeamArgs& a, int b, int s, int level, int head,
                                         int from, int (&leads)[kChunk], Step& step) {
  constexpr int kWords = block_words(kChunk);
  const ConditionalsArgs& c = a.c;
  const int now = level & 1;
  const int before = 1 - now;
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  const std::int64_t own = base + s;
  const double* visits = c.visits + static_cast<std::int64_t>(b) * c.ld;
  Prefix prefix{0, 1, 0, s, false};
  step = {0, 0, 0};
#pragma unroll
  for (int r = 0; r < kChunk; ++r) leads[r] = lane_id() * kChunk + r;
  if (level == (c.batch.single() ? 0 : 1)) {
    if (!c.batch.single()) {
      prefix.rows = detail::row_error(visits[0], 1) <= kBeamError;
      prefix.visits = prefix.rows ? visits[0] : 0.0;
    }
  } else if (level == 1) {
    prefix.sink = head;
    prefix.visits = visits[prefix.sink];
    prefix.rows = detail::row_error(prefix.visits, 1) <= kBeamError;
    if (lane_id() == 0) leads[0] = prefix.sink;
  } else {
    const int word = level - 1;
    const int start = block_start<kWords>(word);
    const std::int64_t parent = base + from;
    // All loads are issued at once, that of the row whether or not there is one.
    const int packed = a.sink[before][parent];
    prefix.visits = a.visits[before][parent];
    prefix.amplification = a.amplification[before][parent];
    const int anchor = a.anchor[before][parent];
    double diagonal = 0;
    double off = 0;
    if constexpr (!kNarrow) {
      const double* row =
          a.rows + ((static_cast<std::int64_t>(word) * c.batch.size + b) * a.width + from) * c.ld;
      diagonal = row[word];
      off = row[head];
    }
    const double* top = c.top + static_cast<std::int64_t>(b) * c.ld;
    const double* tree_sum = c.tree_sum + static_cast<std::int64_t>(b) * c.ld;
    double scale = top[word];
    const double of_word = tree_sum[word];
    const std::uint16_t* old = a.leads[before] + parent * c.ld;
    const int end = old[head];
    int to[kChunk];
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      const int h = lane_id() * kChunk + r;
      to[r] = h < c.ld ? old[h] : 0;
    }
    if (start + lane_id() < word) step = a.steps[before][parent * kWords + lane_id()];
    prefix.sink = packed / 2;
    prefix.rows = packed % 2 != 0;
    const bool is_sink = prefix.sink == word;
#pragma unroll
    for (int r = 0; r < kChunk; ++r) leads[r] = !is_sink && to[r] == word ? end : to[r];
    double inverse = 0;
    if (prefix.rows && !is_sink) {
      const double pivot = diagonal - off;
      if (prefix.sink != 0) {
        scale = fmax(scale, of_word / tree_sum[prefix.sink] * top[prefix.sink]);
      }
      inverse = 1 / pivot;
      prefix.amplification *= detail::pivot_amplification(fmax(diagonal, scale), pivot);
    }
    if (start + lane_id() == word) step = {inverse, from, head};
    const bool has_step = start + lane_id() <= word && lane_id() < kWords;
    if (block_start<kWords>(level) == start) {
      prefix.anchor = anchor;
      if (has_step) a.steps[now][own * kWords + lane_id()] = step;
    } else {  // A new block begins: its path is that of the words before.
      const std::int64_t nodes = c.batch.max_n + 1;
      const Step* path = a.path[block_parity<kWords>(word)] + (base + anchor) * nodes;
      Step* path_to = a.path[block_parity<kWords>(level)] + own * nodes;
      for (int l = 1 + lane_id(); l < start; l += kWarp) path_to[l] = path[l];
      if (has_step) path_to[start + lane_id()] = step;
    }
  }
  std::uint16_t* leads_to = a.leads[now] + own * c.ld;
#pragma unroll
  for (int r = 0; r < kChunk; ++r) {
    const int h = lane_id() * kChunk + r;
    if (h < c.ld) leads_to[h] = static_cast<std::uint16_t>(leads[r]);
  }
  __syncwarp();
  return prefix;
}

/// Finds row `level` of the prefix; at the first level of a block it also reduces the rows of the
/// other words of the block as far as possible.
template <int kChunk>
__device__ __forceinline__ void find_row(const BeamArgs& a, int b, int s, int level, int n,
                                         const Prefix& prefix, const Step& step,
                                         double (&row)[kChunk]) {
  constexpr int kWords = block_words(kChunk);
  const ConditionalsArgs& c = a.c;
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  const int start = block_start<kWords>(level);
  if (level == start) {
    double rows[kWords][kChunk];
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      if (level + w <= n && level + w != prefix.sink) {
        start_row(c, b, prefix.sink, level + w, rows[w]);
      } else {
#pragma unroll
        for (int r = 0; r < kChunk; ++r) rows[w][r] = 0;
      }
    }
    const Step* path = a.path[block_parity<kWords>(level)] + (base + s) * (c.batch.max_n + 1);
    for (int first = 1; first < level; first += kWarp) {
      Step decided{0, 0, 0};
      if (first + lane_id() < level) decided = path[first + lane_id()];
      reduce_rows<kChunk, kWords, kChunk <= 4 ? 4 : 1>(a, b, first, min(kWarp, level - first),
                                                       decided, rows);
    }
    double* partial = a.partial + (base + s) * kWords * c.ld;
#pragma unroll
    for (int w = 1; w < kWords; ++w) store(rows[w], c.ld, partial + w * c.ld);
#pragma unroll
    for (int r = 0; r < kChunk; ++r) row[r] = rows[0][r];
  } else {
    double rows[1][kChunk];
    load(a.partial + ((base + prefix.anchor) * kWords + level - start) * c.ld, c.ld, rows[0]);
    reduce_rows<kChunk, 1, kChunk <= 8 ? kWords - 1 : 1>(a, b, start, level - start, step, rows);
#pragma unroll
    for (int r = 0; r < kChunk; ++r) row[r] = rows[0][r];
  }
}

/// A few more than three times the number of children that a prefix can expect among the best.
template <int kChunk>
__device__ __forceinline__ int likely_children(const Growth<kChunk>& growth, const BeamArgs& a) {
  return 6 + static_cast<int>(fmin(3.0 * a.width * exp(growth.log_p), 1e6));
}

/// With kNarrow there are no rows: all laws are found by contraction in float32.
template <int kChunk, bool kNarrow>
__global__ void __launch_bounds__(kExpandWarps<kNarrow>* kWarp, kNarrow       ? 5
                                                                : kChunk <= 4 ? 3
                                                                              : 1)
    expand_kernel(const __grid_constant__ BeamArgs a, int level) {
  let_next_start();
  wait_for_previous();
  const ConditionalsArgs& c = a.c;
  const int b = static_cast<int>(blockIdx.y);
  const std::int64_t base = static_cast<std::int64_t>(b) * a.width;
  int s = static_cast<int>(blockIdx.x) * kExpandWarps<kNarrow> + warp_id();
  // These loads are issued at once, to wait only once. Values beyond the states are not used.
  const std::int32_t status = c.outcomes[b].status;
  const int n = c.batch.n(b);
  const int states = a.states[b];
  const double bar = a.bar[b];
  int head = s < a.width ? a.head[base + s] : 0;
  int from = s < a.width ? a.parent[base + s] : 0;
  if (status != kOk || level > n) return;
  const int now = level & 1;
  const int slot = static_cast<int>((blockIdx.y * gridDim.x + blockIdx.x) % a.slots);
  const std::int64_t room = expand_bytes<kNarrow>(c.batch.max_n, level);
  SharedScratch scratch{reinterpret_cast<double*>(block_memory + warp_id() * room), room,
                        a.scratch + slot * exact_scratch(c.batch.max_n), a.locks + slot, false};
  // If there is room for all children, all are wanted.
  const bool all = static_cast<std::int64_t>(states) * n <= a.width;
  const bool barred = bar > -HUGE_VAL;
  const int warps = static_cast<int>(gridDim.x) * kExpandWarps<kNarrow>;
  for (; s < states; s += warps) {
    const std::int64_t own = base + s;
    if (s >= warps) {
      head = a.head[own];
      from = a.parent[own];
    }
    int leads[kChunk];
    Step step;
    Growth<kChunk> growth(a, b, s, level, n, states, a.leads[now] + own * c.ld);
    growth.draw();  // While loads are in flight.
    Prefix prefix = follow<kChunk, kNarrow>(a, b, s, level, head, from, leads, step);
    growth.sink = prefix.sink;
    double row[kChunk];
    if (!kNarrow && prefix.rows && level > 0) {
      find_row<kChunk>(a, b, s, level, n, prefix, step, row);
    }
    if (level == 0) {
      load(c.roots + static_cast<std::int64_t>(b) * c.ld, c.ld, growth.law.p);
      growth.law.sum();
    } else if (prefix.sink == level) {  // Its head is ROOT.
#pragma unroll
      for (int r = 0; r < kChunk; ++r) growth.law.p[r] = lane_id() == 0 && r == 0 ? 1.0 : 0.0;
      growth.law.sum();
    } else if constexpr (kNarrow) {
      growth.make_narrow(static_cast<int>(warp_id() * room), scratch);
    } else {
      if (prefix.rows) {
        store(
            row, c.ld,
            a.rows + ((static_cast<std::int64_t>(level) * c.batch.size + b) * a.width + s) * c.ld);
        const double diagonal = entry(row, level);
        prefix.visits =
            fmax(prefix.visits, diagonal * c.sums[static_cast<std::int64_t>(b) * c.ld + level]);
        growth.error = detail::row_error(prefix.visits, prefix.amplification);
        prefix.rows = growth.error <= kBeamError;
        growth.use_row(row, leads);
      }
      if (!prefix.rows) {
        growth.make_exact(scratch.take(n, level));
        scratch.give();
      }
    }
    // While there is no bar yet, the selection decides whether children are needed that the rows do
    // not resolve, or that come after many others.
    growth.grow(bar, all || barred, all || barred ? kNoCap : likely_children(growth, a), scratch);
    growth.write();
    const bool open = growth.y < HUGE_VAL && (growth.uncertain || (!barred && !all));
    if (lane_id() == 0) {
      a.child_count[own] = growth.count;
      a.last[own] = growth.last;
      a.bound[own] = open ? growth.log_p - log(growth.y) : -HUGE_VAL;
      a.visits[now][own] = prefix.visits;
      a.amplification[now][own] = prefix.amplification;
      a.sink[now][own] = 2 * prefix.sink + (prefix.rows ? 1 : 0);
      a.anchor[now][own] = prefix.anchor;
    }
    __syncwarp();
  }
}

}  // namespace taproot::cuda
