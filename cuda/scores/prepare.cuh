// SPDX-License-Identifier: Apache-2.0
//
// From scores to scaled weights, their order of elimination and whether there is a tree: what
// src/scores/ and src/eliminate/order.cc do, by one thread block per sentence. The weights have
// the same bits as on the host (for scores up to 7e5); the sums over them have another order.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/exp_reduced.h"
#include "core/format.h"
#include "core/ln2.h"
#include "core/wide.h"
#include "cuda/core/warp.cuh"
#include "cuda/scores/batch.h"
#include "taproot/types.h"

namespace taproot::cuda {

inline constexpr double kLowest = -HUGE_VAL;

/// How many scores or weights of a column a thread reads at the same time.
inline constexpr int kReadAtOnce = 4;

/// When the range of a type is enough. If 2^bits bounds the product of the columns' sums over Z, an
/// error of d in an entry costs Z at most d 2^bits of itself (docs/numerics.md).
template <typename T>
struct Range;
template <>
struct Range<double> {
  static constexpr double kFlushExponent = detail::kFlushExponent;
  static constexpr double kSafeBits = detail::kSafeBits;
  static constexpr double kNegligibleBits = detail::kNegligibleBits;
};
/// float: each of at most n^3 products loses less than 2^-149 to underflow, so less than 2^-40 of Z
/// is missing.
template <>
struct Range<float> {
  static constexpr double kFlushExponent = -100;
  static constexpr double kSafeBits = 80;
  static constexpr double kNegligibleBits = 40;
};

/// Wide has the range for everything; weights in double only choose its order of elimination.
template <>
struct Range<detail::Wide> : Range<double> {};

/// Vectors of one sentence in shared memory, n + 1 entries each.
struct Vectors {
  double* scale;       ///< Exponents of the powers of two that scale the columns.
  double* sums;        ///< The sums of the columns of weights.
  double* keys;        ///< What the order of elimination is sorted by.
  double* reduce;      ///< Scratch of max(threads, n + 1).
  int* order;          ///< order[p] is the node at position p.
  int* position;       ///< Its inverse.
  std::uint8_t* last;  ///< Words that may come last.
};

/// What is known of a sentence as a whole; in shared memory.
struct SentenceFacts {
  double root_scale;
  double total_scale;
  double flushed;  ///< No weight that was set to 0 is above 2^flushed.
  double root_sum;
  double mantissa;  ///< Z of the scaled weights
  double exponent;
  double bits;
  int bad_cell;
  int has_forbidden;
  int reaches;  ///< How many words may come last; multi-root: how many ROOT reaches.
};

/// Columns over threads, rows over groups of threads.
struct Columns {
  int width;  ///< Threads of a group.
  int groups;
  int group;
  int first;  ///< This thread's first column.

  __device__ explicit Columns(int n) {
    const int whole = (n + kWarp) / kWarp * kWarp;
    width = min(whole, static_cast<int>(blockDim.x));
    groups = static_cast<int>(blockDim.x) / width;
    group = static_cast<int>(threadIdx.x) / width;
    first = static_cast<int>(threadIdx.x) % width;
  }
  /// Whether this thread has work at all: the last group may be cut short.
  __device__ bool active() const { return group < groups; }
};

/// Combines what the groups have found for each column: out[m] = op(values of all groups).
template <typename Op>
__device__ inline void combine_columns(const Columns& c, int m, int n, double value, double* reduce,
                                       double* out, Op&& op) {
  if (c.groups == 1) {
    if (c.active() && m <= n) out[m] = value;
    return;
  }
  if (c.active()) reduce[c.group * c.width + c.first] = value;
  __syncthreads();
  if (c.group == 0 && m <= n) {
    for (int g = 1; g < c.groups; ++g) value = op(value, reduce[g * c.width + c.first]);
    out[m] = value;
  }
  __syncthreads();
}

/// exp(s) 2^-scale, or 0 below the range of double. `flushed` takes the largest exponent of weights
/// below 2^flush, which the arithmetic may lose.
__device__ inline double scaled_weight(double s, double scale, double flush, double& flushed) {
  using namespace detail;
  constexpr double kRounder = 0x1.8p52;
  if (s == kLowest) return 0;
  const double k = fma(s, kLog2e, kRounder) - kRounder;
  const double e = k - scale;
  if (!(e >= flush) && e > flushed) flushed = e;
  if (!(e >= Range<double>::kFlushExponent)) return 0;
  const double r =
      fabs(k) < kShortRange ? fma(-k, kLn2Rest, fma(-k, kLn2Short, s)) : minus_k_ln2(s, k);
  return double_of_bits(bits_of_double(exp_reduced(r)) +
                        (static_cast<std::uint64_t>(static_cast<std::int64_t>(e)) << 52));
}

/// scaled_weight() of several scores and scales, which the device computes side by side.
template <int kCount>
__device__ inline void scaled_weights(const double* scores, const double* scales, double flush,
                                      double& flushed, double* weights) {
  using namespace detail;
  constexpr double kRounder = 0x1.8p52;
  double k[kCount];
  bool usual = true;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    k[i] = fma(scores[i] == kLowest ? 0.0 : scores[i], kLog2e, kRounder) - kRounder;
    usual = usual && fabs(k[i]) < kShortRange;
  }
  if (!usual) {
    for (int i = 0; i < kCount; ++i) {
      weights[i] = scaled_weight(scores[i], scales[i], flush, flushed);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const bool forbidden = scores[i] == kLowest;
    const double e = k[i] - scales[i];
    flushed = !forbidden && !(e >= flush) && e > flushed ? e : flushed;
    const double r = fma(-k[i], kLn2Rest, fma(-k[i], kLn2Short, forbidden ? 0.0 : scores[i]));
    const double weight =
        double_of_bits(bits_of_double(exp_reduced(r)) +
                       (static_cast<std::uint64_t>(static_cast<std::int64_t>(e)) << 52));
    weights[i] = !forbidden && e >= Range<double>::kFlushExponent ? weight : 0.0;
  }
}

/// Checks the scores and chooses the scales. Column 0 and the diagonal are ignored.
__device__ inline void choose_scales(const EdgeReader& scores, int n, bool single, Vectors& v,
                                     SentenceFacts& facts) {
  using namespace detail;
  if (threadIdx.x == 0) {
    facts.bad_cell = 0x7fffffff;
    facts.has_forbidden = 0;
    facts.flushed = kLowest;
  }
  __syncthreads();
  const Columns c(n);
  int bad = 0x7fffffff;
  bool forbidden = false;
  for (int m0 = 0; m0 <= n; m0 += c.width) {
    const int m = m0 + c.first;
    double top = kLowest;
    if (c.active() && m >= 1 && m <= n) {
      constexpr int kAtOnce = 2 * kReadAtOnce;
      for (int h0 = c.group; h0 <= n; h0 += kAtOnce * c.groups) {
        double read[kAtOnce];
        scores.read<kAtOnce>(h0, c.groups, n, m, read);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const int h = h0 + i * c.groups;
          const double s = read[i];
          if (h == m || h > n) continue;
          if (!(fabs(s) <= kMaxScore)) {
            if (s == kLowest) {
              forbidden = true;
            } else {
              bad = min(bad, h * (n + 1) + m);
            }
          }
          if (h > 0 && s > top) top = s;
        }
      }
    }
    combine_columns(c, m, n, top, v.reduce, v.scale,
                    [](double a, double b) { return b > a ? b : a; });
  }
  if (forbidden) facts.has_forbidden = 1;
  if (bad != 0x7fffffff) atomicMin(&facts.bad_cell, bad);
  __syncthreads();
  if (facts.bad_cell != 0x7fffffff) return;
  // There are few scales, so one warp does this.
  if (warp_id() == 0) {
    double root_scale = kLowest;
    double total = 0;
    for (int m = 1 + lane_id(); m <= n; m += kWarp) {
      const double root = scores(0, m);
      double top = v.scale[m];
      top = single ? (top == kLowest ? root : top) : (root > top ? root : top);
      const double chosen = top == kLowest ? 0.0 : rint(top * kLog2e);
      v.scale[m] = chosen;
      const double relative = rint(root * kLog2e) - chosen;
      root_scale = relative > root_scale ? relative : root_scale;
      total += chosen;
    }
    root_scale = warp_max(root_scale);
    total = warp_sum(total);  // Of integers: exact below 2^53.
    if (lane_id() == 0) {
      facts.root_scale = single && root_scale != kLowest ? root_scale : 0.0;
      facts.total_scale = total + facts.root_scale;
    }
  }
  __syncthreads();
}

/// Fills weights[h * (n+1) + m] for all edges, with 0 elsewhere. v.sums takes the sums of the
/// columns over heads that are words.
template <typename T>
__device__ inline void fill_weights(const EdgeReader& scores, int n, double* weights, Vectors& v,
                                    SentenceFacts& facts) {
  const Columns c(n);
  double flushed = kLowest;
  for (int m0 = 0; m0 <= n; m0 += c.width) {
    const int m = m0 + c.first;
    double sum = 0;
    if (c.active() && m <= n) {
      for (int h0 = c.group; h0 <= n; h0 += kReadAtOnce * c.groups) {
        double w[kReadAtOnce];
        double scales[kReadAtOnce];
        scores.read<kReadAtOnce>(h0, c.groups, n, m, w);
#pragma unroll
        for (int i = 0; i < kReadAtOnce; ++i) {
          const int h = h0 + i * c.groups;
          if (m == 0 || h == m || h > n) w[i] = kLowest;
          scales[i] = m == 0 ? 0.0 : v.scale[m] + (h == 0 ? facts.root_scale : 0.0);
        }
        scaled_weights<kReadAtOnce>(w, scales, Range<T>::kFlushExponent, flushed, w);
#pragma unroll
        for (int i = 0; i < kReadAtOnce; ++i) {
          const int h = h0 + i * c.groups;
          if (h > n) continue;
          weights[static_cast<std::int64_t>(h) * (n + 1) + m] = w[i];
          if (h > 0) sum += w[i];
        }
      }
    }
    combine_columns(c, m, n, sum, v.reduce, v.sums, [](double a, double b) { return a + b; });
  }
  v.reduce[threadIdx.x] = flushed;
  __syncthreads();
  if (warp_id() == 0) {
    double most = kLowest;
    for (int i = lane_id(); i < static_cast<int>(blockDim.x); i += kWarp) {
      most = v.reduce[i] > most ? v.reduce[i] : most;
    }
    most = warp_max(most);
    double root_sum = 0;
    for (int m = 1 + lane_id(); m <= n; m += kWarp) root_sum += weights[m];
    root_sum = warp_sum(root_sum);
    if (lane_id() == 0) {
      facts.flushed = most + 1;
      facts.root_sum = root_sum;
    }
  }
  __syncthreads();
}

/// Which words may come last (src/scores/reach.h), by the transitive closure of the allowed edges
/// in `bits`, (n+1) rows of words of 32. facts.reaches is 0 if there is no tree.
__device__ inline void find_last_words(const EdgeReader& scores, int n, bool single, Vectors& v,
                                       std::uint32_t* bits, SentenceFacts& facts) {
  const int tid = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  if (facts.has_forbidden == 0) {
    for (int m = 1 + tid; m <= n; m += threads) v.last[m] = 1;
    if (tid == 0) facts.reaches = n;
    __syncthreads();
    return;
  }
  const int words = n / 32 + 1;
  for (int i = tid; i < (n + 1) * words; i += threads) {
    const int h = i / words;
    std::uint32_t set = 0;
    for (int bit = 0; bit < 32; ++bit) {
      const int m = i % words * 32 + bit;
      if (m >= 1 && m <= n && (m == h || scores(h, m) != kLowest)) set |= 1u << bit;
    }
    bits[i] = set;
  }
  if (tid == 0) facts.reaches = 0;
  __syncthreads();
  for (int k = 1; k <= n; ++k) {
    // Row k does not change in its own step, in which all other rows read it.
    for (int h = tid; h <= n; h += threads) {
      if (h == k || (bits[h * words + k / 32] >> (k % 32) & 1) == 0) continue;
      for (int w = 0; w < words; ++w) bits[h * words + w] |= bits[k * words + w];
    }
    __syncthreads();
  }
  for (int h = tid; h <= n; h += threads) {
    int reached = 0;
    for (int w = 0; w < words; ++w) reached += __popc(bits[h * words + w]);
    if (single) {
      if (h == 0) continue;
      v.last[h] = reached == n && scores(0, h) != kLowest ? 1 : 0;
      if (v.last[h] != 0) atomicAdd(&facts.reaches, 1);
    } else {
      v.last[h] = 1;
      if (h == 0 && reached == n) facts.reaches = n;
    }
  }
  __syncthreads();
}

/// Sets v.keys[h] to the share that h has in the heads of all words. Multi-root, ROOT's weights are
/// added to v.sums.
__device__ inline void find_keys(const double* weights, int n, bool single, Vectors& v) {
  for (int m = static_cast<int>(threadIdx.x); m <= n; m += static_cast<int>(blockDim.x)) {
    if (!single) v.sums[m] += weights[m];
    v.reduce[m] = v.sums[m] > 0 ? 1 / v.sums[m] : 0.0;
  }
  __syncthreads();
  for (int h = 1 + warp_id(); h <= n; h += warp_count()) {
    const double* row = weights + static_cast<std::int64_t>(h) * (n + 1);
    double key = 0;
    for (int m0 = 1 + lane_id(); m0 <= n; m0 += kReadAtOnce * kWarp) {
      double weight[kReadAtOnce];
#pragma unroll
      for (int i = 0; i < kReadAtOnce; ++i) weight[i] = row[min(m0 + i * kWarp, n)];
#pragma unroll
      for (int i = 0; i < kReadAtOnce; ++i) {
        const int m = m0 + i * kWarp;
        if (m <= n) key = fma(weight[i], v.reduce[m], key);
      }
    }
    key = warp_sum(key);
    if (lane_id() == 0) v.keys[h] = key;
  }
  __syncthreads();
}

/// Puts the word `last` at position 1 or, if `last` is 0, the word with the largest key among the
/// words that may be eliminated last. The other words get positions 2 to n by decreasing key.
__device__ inline void assign_positions(int n, int last, Vectors& v) {
  __shared__ int chosen;
  if (warp_id() == 0) {
    int best = last;
    if (last == 0) {
      for (int w = 1 + lane_id(); w <= n; w += kWarp) {
        if (v.last[w] != 0 && (best == 0 || v.keys[w] > v.keys[best])) best = w;
      }
      for (int step = 16; step > 0; step /= 2) {
        const int other = __shfl_xor_sync(kAllLanes, best, step);
        if (other != 0 && (best == 0 || v.keys[other] > v.keys[best] ||
                           (v.keys[other] == v.keys[best] && other < best))) {
          best = other;
        }
      }
    }
    if (lane_id() == 0) chosen = best;
  }
  __syncthreads();
  const int first = chosen;
  for (int w = static_cast<int>(threadIdx.x); w <= n; w += static_cast<int>(blockDim.x)) {
    int rank = 1;
    if (w == 0) {
      rank = 0;
    } else if (w != first) {
      rank = 2;
      const double own = v.keys[w];
#pragma unroll 8
      for (int x = 1; x <= n; ++x) {
        const double key = v.keys[x];
        rank += (x != first) & ((key > own) | ((key == own) & (x > w)));
      }
    }
    v.order[rank] = w;
    v.position[w] = rank;
  }
  __syncthreads();
}

}  // namespace taproot::cuda
