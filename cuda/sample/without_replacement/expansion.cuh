// SPDX-License-Identifier: Apache-2.0
//
// The children of one prefix, by one warp. Lane l has the entries l kChunk ... l kChunk + kChunk -
// 1 of every vector over nodes.
#pragma once

#include <cmath>

#include "core/random.h"
#include "cuda/sample/without_replacement/beam.h"
#include "cuda/sample/without_replacement/contraction.cuh"
#include "sample/rows.h"
#include "sample/without_replacement/gumbel.h"

namespace taproot::cuda {

// As in src/sample/without_replacement/beam.cc.
inline constexpr double kMostError = 1e-9;
inline constexpr std::uint64_t kLevelBlocks = std::uint64_t{1} << 20;

/// Entry h of a vector over the lanes; the same for all.
template <int kChunk>
__device__ inline double entry(const double (&x)[kChunk], int h) {
  double own = x[0];
#pragma unroll
  for (int r = 1; r < kChunk; ++r) own = h % kChunk == r ? x[r] : own;
  return __shfl_sync(kAllLanes, own, h / kChunk);
}

template <int kChunk>
__device__ inline void load(const double* from, int ld, double (&x)[kChunk]) {
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
__device__ inline void store(const double (&x)[kChunk], int ld, double* to) {
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

/// A law over the lanes with the sums that drawing from it takes.
template <int kChunk>
struct Law {
  double p[kChunk];
  double before;  ///< The sum over the lanes before.
  double until;   ///< And this one.
  double total;

  __device__ void sum() {
    double own = p[0];
#pragma unroll
    for (int r = 1; r < kChunk; ++r) own += p[r];
    until = warp_scan(own);
    before = __shfl_up_sync(kAllLanes, until, 1);
    if (lane_id() == 0) before = 0;
    total = __shfl_sync(kAllLanes, until, kWarp - 1);
  }

  /// An index with probability p[i] / total; never one of weight 0, unless all are.
  __device__ int choose(double uniform) const {
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
    // The first lane whose end passes the target; by rounding there may be none: then the last one
    // of positive weight.
    const unsigned passing = __ballot_sync(kAllLanes, until > target && any);
    const unsigned positive = __ballot_sync(kAllLanes, any);
    const int lane = passing != 0    ? __ffs(static_cast<int>(passing)) - 1
                     : positive != 0 ? 31 - __clz(static_cast<int>(positive))
                                     : 0;
    return lane * kChunk + __shfl_sync(kAllLanes, found, lane);
  }

  __device__ void remove(int h) {
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      if (lane_id() * kChunk + r == h) p[r] = 0;
    }
  }
};

/// A prefix whose children are being made.
template <int kChunk>
struct Expansion {
  const BeamArgs& a;
  int b;
  int s;
  int level;
  int n;
  int sink;
  double log_p;
  const std::uint16_t* leads;
  Law<kChunk> law;
  double error;  ///< Of the law, if from rows; else 0.
  int count;     ///< Children so far.
  double next;
  bool uncertain;

  __device__ std::int64_t state() const { return static_cast<std::int64_t>(b) * a.width + s; }
  __device__ std::int64_t child(int i) const { return state() * (a.c.batch.max_n + 1) + i; }
  __device__ const double* weights() const {
    return a.c.weights + static_cast<std::int64_t>(b) * (a.c.batch.max_n + 1) * a.c.ld;
  }
  /// Random numbers of a child: two blocks each, the first for its head, the second for its Gumbel.
  __device__ detail::PhiloxBlock random(int i, int block) const {
    return detail::philox_block(
        a.seed, a.first_sentence + static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(s),
        static_cast<std::uint32_t>(detail::Purpose::kBeam),
        static_cast<std::uint64_t>(level) * kLevelBlocks + 2 * static_cast<std::uint64_t>(i) +
            static_cast<std::uint64_t>(block));
  }

  /// The contracted law, without the heads taken.
  __device__ void make_exact(double* scratch) {
    contracted_law(weights(), a.c.ld, n, level, sink, leads, scratch);
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      const int h = lane_id() * kChunk + r;
      law.p[r] = h <= n ? scratch[h] : 0.0;
    }
    for (int i = 0; i < count; ++i) law.remove(a.child_head[child(i)]);
    law.sum();
    error = 0;
    if (lane_id() == 0) atomicAdd(a.exact + b, 1);
    __syncwarp();
  }

  /// Which Gumbel the next child has; `last` is that of the one before.
  __device__ void look_ahead(double last) {
    double left = law.total;
    uncertain = error > 0 && !(error < kMostError * left);
    if (uncertain) left += a.c.ld * error;
    if (!(left > 0)) {
      next = -HUGE_VAL;
      uncertain = false;
      return;
    }
    const detail::PhiloxBlock r = random(count, 1);
    next = detail::truncated_gumbel(log_p + log(left), last,
                                    detail::to_exponential(r.draws[0], r.draws[1]));
  }

  /// Makes children while their Gumbels reach `bar`. Without `scratch_of` to ask for a place to
  /// contract in, stops where rows do not tell.
  template <typename Scratch>
  __device__ void grow(double bar, bool resolve, Scratch&& scratch) {
    while (next >= bar && next > -HUGE_VAL) {
      if (uncertain) {
        if (!resolve) return;
        double* own = scratch.take();
        make_exact(own);
        scratch.give();
        look_ahead(a.child_gumbel[child(count - 1)]);
        continue;
      }
      const detail::PhiloxBlock r = random(count, 0);
      int head = law.choose(detail::to_uniform(r.draws[0]));
      double p = entry(law.p, head);
      if (error > 0 && !(error < p)) {  // Perhaps impossible: rows do not tell.
        double* own = scratch.take();
        make_exact(own);
        scratch.give();
        head = law.choose(detail::to_uniform(r.draws[1]));
        p = entry(law.p, head);
      }
      if (lane_id() == 0) {
        const std::int64_t at = child(count);
        a.child_gumbel[at] = next;
        a.child_log_p[at] = log(p);
        a.child_head[at] = head;
      }
      __syncwarp();
      law.remove(head);
      law.sum();
      ++count;
      look_ahead(next);
    }
  }
};

}  // namespace taproot::cuda
