// SPDX-License-Identifier: Apache-2.0
//
// The children of one prefix, by one warp. Lane l has entries l * kChunk to l * kChunk + kChunk - 1
// of every vector over nodes.
#pragma once

#include <cmath>

#include "core/random.h"
#include "cuda/sample/without_replacement/beam.h"
#include "cuda/sample/without_replacement/contraction.cuh"
#include "cuda/sample/without_replacement/narrow_contraction.cuh"
#include "sample/conditionals/rows.h"
#include "sample/without_replacement/gumbel.h"

namespace taproot::cuda {

using detail::kBeamError;

/// Entry h of a vector over the lanes, the same for all lanes. It is found by halving values, since
/// a variable index would force the vector out of registers.
template <int kChunk>
__device__ __forceinline__ double entry(const double (&x)[kChunk], int h) {
  double half[kChunk];
#pragma unroll
  for (int r = 0; r < kChunk; ++r) half[r] = x[r];
#pragma unroll
  for (int step = kChunk / 2; step > 0; step /= 2) {
    const bool upper = (h & step) != 0;
#pragma unroll
    for (int r = 0; r < step; ++r) {
      const double low = half[r];
      const double high = half[r + step];
      half[r] = upper ? high : low;
    }
  }
  return __shfl_sync(kAllLanes, half[0], h / kChunk);
}

template <int kChunk>
__device__ __forceinline__ void load(const double* from, int ld, double (&x)[kChunk]) {
  const int h = lane_id() * kChunk;
  if constexpr (kChunk == 1) {
    x[0] = h < ld ? from[h] : 0.0;
  } else {
#pragma unroll
    for (int r = 0; r < kChunk; r += 2) {
      const double2 pair =
          h + r < ld ? *reinterpret_cast<const double2*>(from + h + r) : make_double2(0, 0);
      x[r] = pair.x;
      x[r + 1] = pair.y;
    }
  }
}

template <int kChunk>
__device__ __forceinline__ void store(const double (&x)[kChunk], int ld, double* to) {
  const int h = lane_id() * kChunk;
  if constexpr (kChunk == 1) {
    if (h < ld) to[h] = x[0];
  } else {
#pragma unroll
    for (int r = 0; r < kChunk; r += 2) {
      if (h + r < ld) *reinterpret_cast<double2*>(to + h + r) = make_double2(x[r], x[r + 1]);
    }
  }
}

/// A law over the lanes, with the sums that are needed to sample from it.
template <int kChunk>
struct Law {
  double p[kChunk];
  double before;  ///< The sum over the lanes before this one.
  double until;   ///< The same with this one.
  double total;

  __device__ __forceinline__ void sum() {
    double own = p[0];
#pragma unroll
    for (int r = 1; r < kChunk; ++r) own += p[r];
    until = warp_scan(own);
    before = __shfl_up_sync(kAllLanes, until, 1);
    if (lane_id() == 0) before = 0;
    total = __shfl_sync(kAllLanes, until, kWarp - 1);
  }

  /// An index with probability p[i] / total; never one of weight 0, unless all are.
  __device__ __forceinline__ int choose(double uniform) const {
    const double target = uniform * total;
    int found = 0;
    bool any = false;
    bool passed = false;
    double running = before;
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      running += p[r];
      if (p[r] > 0 && !passed) {
        found = r;
        any = true;
        passed = running > target;
      }
    }
    // Choose the first lane whose running sum passes the target. Rounding can leave the target
    // above every sum; then choose the last lane that has a positive weight.
    const unsigned passing = __ballot_sync(kAllLanes, until > target && any);
    const unsigned positive = __ballot_sync(kAllLanes, any);
    const int lane = passing != 0    ? __ffs(static_cast<int>(passing)) - 1
                     : positive != 0 ? 31 - __clz(static_cast<int>(positive))
                                     : 0;
    return lane * kChunk + __shfl_sync(kAllLanes, found, lane);
  }

  __device__ __forceinline__ void remove(int h) {
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      if (lane_id() * kChunk + r == h) p[r] = 0;
    }
  }
};

/// The children of a prefix, made one by one, the largest Gumbel first.
///
/// Given the last child's Gumbel g, that of the next is a Gumbel at log_p + log(left) truncated at
/// g. With y = exp(log_p - g) it is y + E / left for an exponential E, so no logarithm is needed
/// between one child and the next. Lane i computes the logarithms and the random numbers of child
/// base + i, for 32 children at once.
template <int kChunk>
struct Growth {
  const BeamArgs& a;
  int b;
  int s;
  int level;
  int n;
  int sink;
  int states;  ///< Prefixes of the level.
  double log_p;
  double gumbel;  ///< Of the prefix, and so of its first child.
  const std::uint16_t* leads;
  Law<kChunk> law;
  double error = 0;        ///< A bound on the error of a law from rows or in float32; else 0.
  int count = 0;           ///< Children so far.
  int base = 0;            ///< Children before this one are written.
  double last = 0;         ///< y of the last child,
  double y = 0;            ///< and of the next one; +inf if there is none.
  bool uncertain = false;  ///< The law does not resolve the next child, and y is a bound.
  /// The graph allows no more children than this, whatever the error of the rows.
  int most = 0x7fffffff;
  double uniform[2];
  double exponential;
  double own_y = 0;
  double own_p = 0;
  int own_head = 0;

  __device__ __forceinline__ Growth(const BeamArgs& args, int sentence, int state, int at_level,
                                    int words, int prefixes, const std::uint16_t* its_leads)
      : a(args),
        b(sentence),
        s(state),
        level(at_level),
        n(words),
        sink(0),
        states(prefixes),
        leads(its_leads) {
    log_p = a.log_p[level & 1][place()];
    gumbel = a.gumbel[level & 1][place()];
  }

  __device__ std::int64_t place() const { return static_cast<std::int64_t>(b) * a.width + s; }
  __device__ std::int64_t matrix() const {
    return static_cast<std::int64_t>(b) * (a.c.batch.max_n + 1) * a.c.ld;
  }
  __device__ const double* weights() const { return a.c.weights + matrix(); }

  /// The random numbers of a child: one block for its head, one for its Gumbel.
  __device__ __forceinline__ void draw() {
    const std::uint64_t first = static_cast<std::uint64_t>(level) * detail::kLevelBlocks +
                                2 * static_cast<std::uint64_t>(base + lane_id());
    const detail::StreamKey key = a.keys[b];
    const auto sample = static_cast<std::uint32_t>(s);
    const auto heads = detail::philox_block(key, sample, detail::Purpose::kBeam, first);
    const auto gumbels = detail::philox_block(key, sample, detail::Purpose::kBeam, first + 1);
    uniform[0] = detail::to_uniform(heads.draws[0]);
    uniform[1] = detail::to_uniform(heads.draws[1]);
    exponential = detail::to_exponential(gumbels.draws[0], gumbels.draws[1]);
  }

  __device__ __forceinline__ void remove_taken() {
    const std::int64_t children = place() * (a.c.batch.max_n + 1);
    for (int i = 0; i < base; ++i) law.remove(a.child_head[children + i]);
    for (int i = base; i < count; ++i) {
      law.remove(__shfl_sync(kAllLanes, own_head, i - base));
    }
    law.sum();
  }

  /// Finds the contracted law, without the heads that are taken.
  __device__ __forceinline__ void make_exact(double* scratch) {
    contracted_law(weights(), a.c.by_head + matrix(), a.c.ld, n, level, sink, leads, scratch);
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      const int h = lane_id() * kChunk + r;
      law.p[r] = h <= n ? scratch[h] : 0.0;
    }
    remove_taken();
    error = 0;
    if (lane_id() == 0) atomicAdd(a.exact + b, 1);
    __syncwarp();
  }

  /// The same in float32, in the block's memory from byte `begin` on, if the range of float
  /// suffices; else in double.
  template <typename Scratch>
  __device__ __forceinline__ void make_narrow(int begin, Scratch& scratch) {
    const NarrowNodes nodes(n, level, sink);
    float bits =
        -narrow_contraction<kChunk>(a.c.narrow_by_head + matrix(), a.c.ld, nodes, leads, begin);
    const double* sums = a.c.sums + static_cast<std::int64_t>(b) * a.c.ld;
    float of_columns = 0;
    for (int m = level + 1 + lane_id(); m <= n; m += kWarp) {
      of_columns += fmaxf(0, __log2f(static_cast<float>(sums[m])));
    }
    bits += warp_sum(of_columns);
    const float* q = NarrowScratch(begin, nodes.all).inverse_pivot;
    double w[kChunk];
    load(weights() + static_cast<std::int64_t>(level) * a.c.ld, a.c.ld, w);
    int possible = 0;
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      const int h = lane_id() * kChunk + r;
      const int end = h <= n ? leads[h] : level;
      const bool back = end == level;
      double reaches = 0;
      if (!back) reaches = end == sink ? 1.0 : q[nodes.number(end)];
      law.p[r] = w[r] * reaches;
      possible += !back && w[r] > 0 ? 1 : 0;
    }
    most = warp_sum(possible);
    law.sum();
    __syncwarp();
    const double inverse = 1 / law.total;
    if (!(bits <= kMostNarrowBits && kNarrowError * inverse <= kBeamError)) {
      make_exact(scratch.take(n, level));
      scratch.give();
      return;
    }
#pragma unroll
    for (int r = 0; r < kChunk; ++r) law.p[r] *= inverse;
    remove_taken();
    error = kNarrowError * inverse;
  }

  /// Finds y of the next child.
  __device__ __forceinline__ void look_ahead() {
    if (count - base == kWarp) {
      write();
      draw();
    }
    if (count >= most) {
      y = HUGE_VAL;
      uncertain = false;
      return;
    }
    double left = law.total;
    uncertain = error > 0 && !(error < kBeamError * left);
    if (uncertain) left += a.c.ld * error;
    const double e = __shfl_sync(kAllLanes, exponential, count - base);
    y = left > 0 ? last + e / left : HUGE_VAL;
    if (!(left > 0)) uncertain = false;
  }

  /// Writes the children from base on.
  __device__ __forceinline__ void write() {
    const int more = count - base;
    if (more == 0) return;
    // The first child of each prefix is stored in the order of the prefixes, and all other children
    // after these. The selection then reads and writes memory nearly in order.
    const int skip = base == 0 ? 1 : 0;
    int at = 0;
    if (lane_id() == 0 && more > skip) at = atomicAdd(a.list_size + b, more - skip);
    double log_y;
    double log_own;
    if (more <= kWarp / 2) {  // Half of the lanes take the logarithms of p.
      const double other = __shfl_sync(kAllLanes, own_p, lane_id() % (kWarp / 2));
      log_y = log(lane_id() < kWarp / 2 ? own_y : other);
      log_own = __shfl_sync(kAllLanes, log_y, lane_id() % (kWarp / 2) + kWarp / 2);
    } else {
      log_y = log(own_y);
      log_own = log(own_p);
    }
    at = __shfl_sync(kAllLanes, at, 0);
    if (lane_id() < more) {
      const int nodes = a.c.batch.max_n + 1;
      const int i = base + lane_id();
      const std::int64_t to = static_cast<std::int64_t>(b) * a.width * nodes +
                              (i == 0 ? s : states + at + lane_id() - skip);
      a.list_gumbel[to] = i == 0 ? gumbel : fmin(gumbel, log_p - log_y);
      a.list_log_p[to] = log_own;
      a.list_state[to] = s;
      a.list_head[to] = own_head;
      a.child_head[place() * nodes + i] = own_head;
    }
    base = count;
    __syncwarp();
  }

  /// Finds the law from the word's row: w (diagonal - row), and exactly 0 for heads that lead back
  /// to the word.
  __device__ __forceinline__ void use_row(const double (&row)[kChunk], const int (&ends)[kChunk]) {
    const double diagonal = entry(row, level);
    double w[kChunk];
    load(weights() + static_cast<std::int64_t>(level) * a.c.ld, a.c.ld, w);
    int possible = 0;
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      const bool back = ends[r] == level;
      law.p[r] = back ? 0.0 : w[r] * fmax(diagonal - row[r], 0.0);
      possible += !back && w[r] > 0 ? 1 : 0;
    }
    most = warp_sum(possible);
    law.sum();
  }

  /// Makes children while their Gumbels reach `bar`: at least one if there is none yet, and at most
  /// `cap` in all. Without `resolve` it stops where the law does not resolve the next child.
  /// `scratch` provides memory for a contraction.
  template <typename Scratch>
  __device__ __forceinline__ void grow(double bar, bool resolve, int cap, Scratch& scratch) {
    // A little beyond the bar, since y is rounded. Children below the bar are not selected anyway.
    const double ends = exp(log_p - (lane_id() == 0 ? bar : gumbel));  // Two exponentials at once.
    const double largest = __shfl_sync(kAllLanes, ends, 0) * (1 + 1e-12);
    bool first = count == 0;
    if (first) y = __shfl_sync(kAllLanes, ends, 1);
    while (first || (y <= largest && y < HUGE_VAL && count < cap)) {
      if (uncertain) {
        if (!resolve) return;
        make_exact(scratch.take(n, level));
        scratch.give();
        look_ahead();
        continue;
      }
      int head = law.choose(__shfl_sync(kAllLanes, uniform[0], count - base));
      double p = entry(law.p, head);
      if (error > 0 && !(error < p)) {  // The head may be impossible.
        make_exact(scratch.take(n, level));
        scratch.give();
        head = law.choose(__shfl_sync(kAllLanes, uniform[1], count - base));
        p = entry(law.p, head);
      }
      if (lane_id() == count - base) {
        own_y = y;
        own_p = p;
        own_head = head;
      }
      law.remove(head);
      law.sum();
      ++count;
      last = y;
      first = false;
      look_ahead();
    }
  }
};

}  // namespace taproot::cuda
