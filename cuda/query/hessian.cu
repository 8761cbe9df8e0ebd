// SPDX-License-Identifier: Apache-2.0
//
// The formulas are in src/reverse/tangent.h: both passes differentiated as they stand. One thread
// block per sentence, one warp per row, matrices in global memory.
#include "cuda/query/hessian.h"

#include <algorithm>
#include <cmath>

#include "core/probability.h"
#include "cuda/core/launch.h"
#include "cuda/core/warp.cuh"

namespace taproot::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarp;
constexpr int kVectors = 3;

// One sentence's part of everything.
struct Sentence {
  int n;
  int first;  // Single-root, ROOT stays out of the pivots.
  const double* weights;
  const double* factors;
  const double* pivots;
  const std::int32_t* order;
  const double* gradient;
  double* values;
  double* tangent;
  double* gradient_tangent;

  __device__ Sentence(const HessianArgs& a, int b)
      : n(a.batch.n(b)), first(a.batch.single() ? 1 : 0) {
    const std::int64_t nodes = a.batch.nodes();
    const std::int64_t at = a.factors.at(b, nodes);
    const std::int64_t square = nodes * nodes * b;
    weights = a.factors.weights + at;
    factors = a.factors.factors + at;
    pivots = a.factors.pivots + nodes * b;
    order = a.factors.order + nodes * b;
    gradient = a.gradient + square;
    values = a.values + square;
    tangent = a.tangent + square;
    gradient_tangent = a.gradient_tangent + square;
  }
  __device__ std::int64_t at(int row, int column) const {
    return static_cast<std::int64_t>(row) * (n + 1) + column;
  }
};

// The result is the same for all threads. Two barriers.
__device__ double block_sum(double x, double* per_warp) {
  x = warp_sum(x);
  __syncthreads();
  if (lane_id() == 0) per_warp[warp_id()] = x;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < warp_count(); ++i) sum += per_warp[i];
  return sum;
}

__device__ double block_max(double x, double* per_warp) {
  x = warp_max(x);
  __syncthreads();
  if (lane_id() == 0) per_warp[warp_id()] = x;
  __syncthreads();
  double top = per_warp[0];
  for (int i = 1; i < warp_count(); ++i) top = fmax(top, per_warp[i]);
  return top;
}

// x with few digits, so that subtracting it from doubles of its size is exact.
__device__ double shortened(double x) { return static_cast<double>(static_cast<float>(x)); }

// Loads the direction where the edge is allowed, 0 elsewhere, scaled to at most 1 by a power of
// two, and subtracts what all heads of a word have in common (single-root: also all ROOT edges). H
// times that is 0, but it would cost digits; see center() in src/query/hessian.cc. Returns the
// scale, or NaN if a value is not finite.
__device__ double load_values(const HessianArgs& a, int b, const Sentence& s, double* position,
                              double* per_warp) {
  const EdgeReader scores(a.batch, b, s.n);
  const EdgeReader direction(a.direction, b, s.n);
  double largest = 0;
  double poison = 0;
  for (int h = warp_id(); h <= s.n; h += warp_count()) {
    for (int m = lane_id(); m <= s.n; m += kWarp) {
      const bool edge = m > 0 && h != m && scores(h, m) > -HUGE_VAL;
      const double v = edge ? direction(h, m) : 0.0;
      poison += v * 0;
      largest = fmax(largest, fabs(v));
      s.values[s.at(h, m)] = v;
    }
  }
  largest = block_max(largest, per_warp) + block_sum(poison, per_warp);
  if (!(largest < HUGE_VAL)) return NAN;
  if (largest == 0) return 0;
  const int exponent = max(ilogb(largest), -1000);  // A power of two whose inverse is one, too.
  const double down = scalbn(1.0, -exponent);
  // Means by weight, so that values at negligible edges do not displace the others.
  for (int m = 1 + static_cast<int>(threadIdx.x); m <= s.n; m += kThreads) {
    double sum = 0;
    double mass = 0;
    for (int h = s.first; h <= s.n; ++h) {
      const double w = h == m ? 0.0 : s.weights[s.at(h, m)];
      sum += w * s.values[s.at(h, m)] * down;
      mass += w;
    }
    // A word without word heads has ROOT alone.
    const double mean = mass > 0 ? shortened(sum / mass) : s.values[s.at(0, m)] * down;
    for (int h = 0; h <= s.n; ++h) s.values[s.at(h, m)] = s.values[s.at(h, m)] * down - mean;
  }
  __syncthreads();
  if (s.first == 1) {
    double mean = 0;
    for (int k = 1 + static_cast<int>(threadIdx.x); k <= s.n; k += kThreads) {
      const int m = s.order[k];
      mean += s.weights[m] * s.gradient[s.at(k, 0)] * s.values[m];
    }
    mean = shortened(block_sum(mean, per_warp));
    for (int m = 1 + static_cast<int>(threadIdx.x); m <= s.n; m += kThreads) s.values[m] -= mean;
  }
  for (int p = static_cast<int>(threadIdx.x); p <= s.n; p += kThreads) {
    reinterpret_cast<std::int32_t*>(position)[s.order[p]] = p;
  }
  __syncthreads();
  return scalbn(1.0, exponent);
}

// dA of all factors. Row k becomes dshare_k once its word is eliminated.
__device__ void eliminate_tangent(const Sentence& s, double* share, double* dshare, double* dpivot,
                                  double* per_warp) {
  for (int k = s.n; k >= 2; --k) {
    double own = 0;
    for (int h = s.first + static_cast<int>(threadIdx.x); h < k; h += kThreads) {
      own += s.tangent[s.at(k, h)];
    }
    const double all = block_sum(own, per_warp);
    const double pivot = s.pivots[k];
    for (int h = static_cast<int>(threadIdx.x); h < k; h += kThreads) {
      share[h] = s.factors[s.at(k, h)] / pivot;
      dshare[h] = (s.tangent[s.at(k, h)] - share[h] * all) / pivot;
      s.tangent[s.at(k, h)] = dshare[h];
    }
    if (threadIdx.x == 0) dpivot[k] = all;
    __syncthreads();
    for (int m = 1 + warp_id(); m < k; m += kWarps) {
      const double down = s.tangent[s.at(m, k)];
      const double out = s.factors[s.at(m, k)];
      for (int h = lane_id(); h < k; h += kWarp) {
        double* cell = s.tangent + s.at(m, h);
        *cell += down * share[h] + out * dshare[h];
      }
    }
    __syncthreads();
  }
}

// dG; the diagonals of G and dG are 0.
__device__ void gradient_tangent(const Sentence& s, int parts, double* share, double* dshare,
                                 const double* dpivot, double* part, double* per_warp) {
  for (int m = warp_id(); m <= s.n; m += kWarps) {
    for (int h = lane_id(); h <= s.n; h += kWarp) s.gradient_tangent[s.at(m, h)] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const double pivot = s.pivots[1];
    s.gradient_tangent[s.at(1, 0)] = -(s.tangent[s.at(1, 0)] / pivot / pivot);
  }
  for (int k = 2; k <= s.n; ++k) {
    const double pivot = s.pivots[k];
    __syncthreads();
    for (int h = static_cast<int>(threadIdx.x); h < k; h += kThreads) {
      share[h] = s.factors[s.at(k, h)] / pivot;
      dshare[h] = s.tangent[s.at(k, h)];
      for (int i = 0; i < parts; ++i) part[i * (s.n + 1) + h] = 0;
    }
    __syncthreads();
    if (warp_id() < parts) {
      double* dgu = part + warp_id() * (s.n + 1);
      for (int m = 1 + warp_id(); m < k; m += parts) {
        const double out = s.factors[s.at(m, k)];
        const double moved = s.tangent[s.at(m, k)];
        double dot = 0;
        for (int h = lane_id(); h < k; h += kWarp) {
          const double g = h == m ? 0.0 : s.gradient[s.at(m, h)];
          const double dg = h == m ? 0.0 : s.gradient_tangent[s.at(m, h)];
          dgu[h] += dg * out + g * moved;
          dot += dshare[h] * g + share[h] * dg;
        }
        dot = warp_sum(dot);
        if (lane_id() == 0) s.gradient_tangent[s.at(m, k)] = dot;
      }
    }
    __syncthreads();
    double e = 0;
    for (int h = static_cast<int>(threadIdx.x); h < k; h += kThreads) {
      double dgu = 0;
      for (int i = 0; i < parts; ++i) dgu += part[i * (s.n + 1) + h];
      part[h] = dgu;
      e += dshare[h] * (s.gradient[s.at(k, h)] * pivot) + share[h] * dgu;
    }
    e = block_sum(e, per_warp);
    for (int h = static_cast<int>(threadIdx.x); h < k; h += kThreads) {
      const double rest = part[h] - s.gradient[s.at(k, h)] * dpivot[k];
      s.gradient_tangent[s.at(k, h)] = (h < s.first ? rest : rest - e) / pivot;
    }
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kThreads)
    hessian_kernel(const __grid_constant__ HessianArgs a, int parts) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[kWarps];
  const int b = static_cast<int>(blockIdx.x);
  if (a.summary.outcomes[b].status != kOk) return;
  const Sentence s(a, b);
  double* share = reinterpret_cast<double*>(memory);
  double* dshare = share + s.n + 1;
  double* dpivot = dshare + s.n + 1;
  double* part = dpivot + s.n + 1;
  const double scale = load_values(a, b, s, part, per_warp);
  const EdgeWriter target(a.out, b, s.n);
  if (!(scale > 0)) {  // Nothing moves, or the direction is not finite.
    for (int h = warp_id(); h <= s.n; h += kWarps) {
      for (int m = lane_id(); m <= s.n; m += kWarp) target.write(h, m, scale);
    }
    return;
  }
  const std::int32_t* position = reinterpret_cast<const std::int32_t*>(part);
  for (int h = warp_id(); h <= s.n; h += kWarps) {
    for (int m = 1 + lane_id(); m <= s.n; m += kWarp) {
      s.tangent[s.at(position[m], position[h])] =
          h == m ? 0.0 : s.weights[s.at(h, m)] * s.values[s.at(h, m)];
    }
  }
  __syncthreads();
  eliminate_tangent(s, share, dshare, dpivot, per_warp);
  gradient_tangent(s, parts, share, dshare, dpivot, part, per_warp);
  for (int p = 1 + warp_id(); p <= s.n; p += kWarps) {
    const int m = s.order[p];
    for (int q = lane_id(); q <= s.n; q += kWarp) {
      const int h = s.order[q];
      double product = 0;
      if (p != q) {
        const double w = s.weights[s.at(h, m)];
        const double p_edge = detail::nearest_probability(w * s.gradient[s.at(p, q)]);
        product = scale * (p_edge * s.values[s.at(h, m)] + w * s.gradient_tangent[s.at(p, q)]);
      }
      target.write(h, m, product);
    }
  }
  for (int h = static_cast<int>(threadIdx.x); h <= s.n; h += kThreads) target.write(h, 0, 0.0);
}

std::size_t bytes_of(int max_n, int parts) {
  return sizeof(double) * static_cast<std::size_t>(kVectors + parts) *
         (static_cast<std::size_t>(max_n) + 1);
}

}  // namespace

void launch_hessian(const HessianArgs& args, std::size_t most_shared, void* stream) {
  if (args.batch.size == 0) return;
  int parts = kWarps;  // How many warps of a block share the rows, each with a vector of its own.
  while (parts > 1 && bytes_of(args.batch.max_n, parts) > most_shared) --parts;
  launch(&hessian_kernel, static_cast<unsigned>(args.batch.size), kThreads,
         bytes_of(args.batch.max_n, parts), stream, args, parts);
}

}  // namespace taproot::cuda
