// SPDX-License-Identifier: Apache-2.0
#include "cuda/sample/conditionals/conditionals.h"

#include "cuda/core/launch.h"
#include "cuda/query/inference.cuh"

namespace taproot::cuda {
namespace {

constexpr double kBitsPerNat = 1.4427;

// Visits of a walk to the sink with which rows lose no digits that matter.
constexpr double kGoodVisits = 16;

// Sentence b's part of the arguments.
struct Out {
  double* weights;
  double* by_head;
  float* narrow_by_head;
  double* gradient;
  double* sums;
  double* tree_sum;
  double* top;
  double* visits;
  double* roots;
  std::int32_t* word;
  double* scale;
  double* facts;

  __device__ Out(const ConditionalsArgs& a, int b) {
    const std::int64_t ld = a.ld;
    const std::int64_t square = ld * (a.batch.max_n + 1);
    weights = a.weights + b * square;
    by_head = a.by_head + b * square;
    narrow_by_head = a.narrow_by_head == nullptr ? nullptr : a.narrow_by_head + b * square;
    gradient = a.gradient == nullptr ? nullptr : a.gradient + b * square;
    sums = a.sums + b * ld;
    tree_sum = a.tree_sum + b * ld;
    top = a.top + b * ld;
    visits = a.visits + b * ld;
    roots = a.roots + b * ld;
    word = a.word + b * ld;
    scale = a.scale + b * ld;
    facts = a.facts + b * kFacts;
  }
};

// Sorts the words by certainty: out.word is the order, node[] its inverse; out.facts says whether
// the columns' ranges fit double. The same numbers in the same order as on the host.
__device__ void order_nodes(const EdgeReader& scores, const double* scaled, int n, bool single,
                            Vectors& v, int* node, Out& out, const SentenceFacts& facts) {
  double* certainty = v.keys;
  double* bits = v.reduce;
  const int threads = static_cast<int>(blockDim.x);
  __syncthreads();
  for (int m = 1 + static_cast<int>(threadIdx.x); m <= n; m += threads) {
    double sum = 0;
    double top = 0;
    double high = kLowest;
    double low = HUGE_VAL;
    for (int h = single ? 1 : 0; h <= n; ++h) {
      const double w = scaled[static_cast<std::int64_t>(h) * (n + 1) + m];
      sum += w;
      top = fmax(top, w);
      const double s = h == m ? kLowest : scores(h, m);
      if (s == kLowest) continue;
      high = fmax(high, s);
      low = fmin(low, s);
    }
    certainty[m] = sum > 0 ? top / sum : 1.0;
    bits[m] = high > low ? (high - low) * kBitsPerNat : 0.0;
  }
  __syncthreads();
  if (warp_id() == 0) {
    double total = 0;
    double high = kLowest;
    double low = HUGE_VAL;
    for (int m = 1 + lane_id(); m <= n; m += kWarp) {
      total += bits[m];
      const double s = single ? scores(0, m) : kLowest;
      if (s == kLowest) continue;
      const double relative = detail::minus_k_ln2(s, v.scale[m] + facts.root_scale);
      high = fmax(high, relative);
      low = fmin(low, relative);
    }
    total = warp_sum(total);
    high = warp_max(high);
    low = -warp_max(-low);
    if (single) total += (high - low) * kBitsPerNat;
    if (lane_id() == 0) {
      out.facts[3] =
          total + (n + 1) * log2(static_cast<double>(n + 1)) <= detail::kFittingBits ? 1 : 0;
      out.word[0] = 0;
      node[0] = 0;
    }
  }
  for (int m = 1 + static_cast<int>(threadIdx.x); m <= n; m += threads) {
    int rank = 1;
    for (int x = 1; x <= n; ++x) {
      if (certainty[x] > certainty[m] || (certainty[x] == certainty[m] && x < m)) ++rank;
    }
    node[m] = rank;
    out.word[rank] = m;
  }
  __syncthreads();
}

// Writes the tree sums by word to out.roots, by the first warp, and returns the likeliest root.
__device__ int find_roots(int n, const double* scaled, Block<double>& block, Out& out) {
  const auto row = [&](int m) {
    return block.w.matrix + static_cast<std::int64_t>(m) * block.w.ld;
  };
  root_gradient(n, row, block.w.pivot, block.w.dots);
  double most = -1;
  int best = 1;
  for (int k = 1 + lane_id(); k <= n; k += kWarp) {
    const int word = block.v.order[k];
    out.roots[word] = block.w.dots[k];
    const double p = block.w.dots[k] * scaled[word];
    if (p > most || (p == most && word < best)) {
      most = p;
      best = word;
    }
  }
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(kAllLanes, most, step);
    const int other_word = __shfl_xor_sync(kAllLanes, best, step);
    if (other > most || (other == most && other_word < best)) {
      most = other;
      best = other_word;
    }
  }
  return best;
}

// How often a walk to `sink` visits a word, from a gradient given any root: it tells how many
// digits rows lose. One warp per row finds the largest entries; then all warps do the same.
__device__ double visits_to(int sink, int n, Block<double>& block, const Out& out) {
  double* top = block.w.part;
  for (int m = 1 + warp_id(); m <= n; m += warp_count()) {
    const double* row = block.w.matrix + static_cast<std::int64_t>(m) * block.w.ld;
    double most = 0;
    for (int h = 1 + lane_id(); h <= n; h += kWarp) most = h == m ? most : fmax(most, row[h]);
    most = warp_max(most);
    if (lane_id() == 0) top[m] = most;
  }
  __syncthreads();
  const double of_sink = top[block.v.position[sink]] / out.roots[sink];
  double visits = 0;
  for (int m = 1 + lane_id(); m <= n; m += kWarp) {
    const int word = block.v.order[m];
    if (word == sink) continue;
    visits = fmax(visits, fmax(top[m], out.roots[word] * of_sink) * block.v.sums[word]);
  }
  visits = warp_max(visits);
  __syncthreads();
  return visits;
}

template <int kChunk, bool kShared>
__global__ void __launch_bounds__(512)
    conditionals_kernel(const __grid_constant__ ConditionalsArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  __shared__ int likeliest;
  const int b = static_cast<int>(blockIdx.x);
  const int n = args.batch.n(b);
  const bool single = args.batch.single();
  const std::int64_t nodes = args.batch.max_n + 1;
  const int tid = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  double* scaled = args.scaled + b * nodes * nodes;
  Out out(args, b);
  const Layout layout(n < 1 ? 1 : n, threads, kChunk, sizeof(double), kShared);
  Block<double> block(
      memory, layout, kShared,
      kShared ? nullptr : static_cast<double*>(args.matrices) + b * args.matrix_stride);
  Vectors& v = block.v;
  const EdgeReader scores(args.batch, b, n);
  if (!prepare(scores, n, args.batch.max_n, single, scaled, block, facts, args.outcomes + b))
    return;
  assign_positions(n, 0, v);
  gather(scaled, n, 0, v, block.w);
  factor<double, kChunk>(n, single, block.w);
  bool fits = finish(n, single, facts.root_sum, v, block.w, facts);
  if (tid == 0) {
    out.facts[0] = facts.root_scale;
    out.facts[1] = facts.mantissa;
    out.facts[2] = facts.exponent;
  }
  const bool rows = fits && args.gradient != nullptr;
  if (fits && single) {
    if (warp_id() == 0) {
      const int best = find_roots(n, scaled, block, out);
      if (lane_id() == 0) likeliest = best;
    }
    // From here on the root is the word that came last. No pivot depends on ROOT's edges.
    for (int m = 1 + tid; m <= n; m += threads) {
      block.w.matrix[static_cast<std::int64_t>(m) * block.w.ld] = m == 1 ? 1.0 : 0.0;
    }
    if (tid == 0) block.w.pivot[1] = 1;
    __syncthreads();
  }
  if (rows) gradient<double, kChunk>(n, single, block.w);
  // A root that walks seldom meet makes inaccurate rows. Then eliminate again, given the likeliest.
  if (rows && single && v.order[1] != likeliest &&
      visits_to(likeliest, n, block, out) > kGoodVisits) {
    assign_positions(n, likeliest, v);
    gather(scaled, n, likeliest, v, block.w);
    factor<double, kChunk>(n, single, block.w);
    fits = finish(n, single, 1.0, v, block.w, facts);
    if (fits) gradient<double, kChunk>(n, single, block.w);
  }
  if (tid == 0) args.outcomes[b] = {fits ? kOk : kCudaOutOfRange, -1, -1};
  if (!fits) return;
  int* node = v.order;  // Not needed any more.
  order_nodes(scores, scaled, n, single, v, node, out, facts);
  for (int m = 1 + tid; m <= n; m += threads) out.scale[m] = v.scale[m];
  __syncthreads();
  int* word = reinterpret_cast<int*>(v.scale);  // Which is not needed any more.
  for (int m = tid; m <= n; m += threads) word[node[m]] = m;
  // out.roots has the tree sums by word. Put them in the order of nodes, by way of shared memory.
  if (single) {
    for (int m = 1 + tid; m <= n; m += threads) v.sums[m] = out.roots[m];
    __syncthreads();
    for (int m = 1 + tid; m <= n; m += threads) {
      out.tree_sum[node[m]] = v.sums[m];
      v.keys[node[m]] = v.sums[m];
      out.roots[node[m]] = v.sums[m] * scaled[m];
    }
  }
  if (tid == 0) out.roots[0] = 0;
  for (int h = n + 1 + tid; h < args.ld; h += threads) out.roots[h] = 0;
  __syncthreads();
  for (int i = warp_id(); i <= n; i += warp_count()) {
    double* w = out.weights + static_cast<std::int64_t>(i) * args.ld;
    double* g = rows ? out.gradient + static_cast<std::int64_t>(i) * args.ld : nullptr;
    double sum = 0;
    double top = kLowest;
    for (int h = lane_id(); h < args.ld; h += kWarp) {
      double weight = 0;
      double value = 0;
      if (i > 0 && h <= n && h != i) {
        if (h > 0 || !single) {
          weight = scaled[static_cast<std::int64_t>(word[h]) * (n + 1) + word[i]];
        }
        const std::int64_t row = v.position[word[i]];
        if (rows) value = block.w.matrix[row * block.w.ld + v.position[word[h]]];
        if (h > 0 || !single) top = fmax(top, value);
      }
      w[h] = weight;
      if (rows) g[h] = value;
      sum += weight;
    }
    sum = warp_sum(sum);
    top = fmax(0.0, warp_max(top));  // The diagonal is 0.
    if (lane_id() == 0) {
      out.sums[i] = sum;
      out.top[i] = top;
      v.sums[i] = sum;
      v.reduce[i] = top;
    }
  }
  for (int h = warp_id(); h <= n; h += warp_count()) {
    for (int m = lane_id(); m < args.ld; m += kWarp) {
      const bool edge = m > 0 && m <= n && m != h && (h > 0 || !single);
      const double weight =
          edge ? scaled[static_cast<std::int64_t>(word[h]) * (n + 1) + word[m]] : 0.0;
      const std::int64_t at = static_cast<std::int64_t>(h) * args.ld + m;
      out.by_head[at] = weight;
      if (out.narrow_by_head != nullptr) out.narrow_by_head[at] = static_cast<float>(weight);
    }
  }
  __syncthreads();
  for (int s = tid; s <= n; s += threads) {
    double most = HUGE_VAL;
    if (rows && (single ? s > 0 && out.roots[s] > 0 : s == 0)) {
      most = 0;
      const double of_sink = single ? v.reduce[s] / v.keys[s] : 0.0;
      for (int i = 1; i <= n; ++i) {
        if (i == s) continue;
        const double row_scale = single ? fmax(v.reduce[i], v.keys[i] * of_sink) : v.reduce[i];
        most = fmax(most, row_scale * v.sums[i]);
      }
    }
    out.visits[s] = most;
  }
}

}  // namespace

void launch_conditionals(const ConditionalsArgs& args, const Shape& shape, void* stream) {
  if (args.batch.size == 0) return;
  const Layout layout(args.batch.max_n, shape.threads, shape.chunk, sizeof(double), shape.shared);
  const auto run = [&](auto* kernel) {
    launch(kernel, static_cast<unsigned>(args.batch.size), static_cast<unsigned>(shape.threads),
           layout.bytes, stream, args);
  };
  if (!shape.shared) {
    run(&conditionals_kernel<8, false>);
  } else if (shape.chunk == 1) {
    run(&conditionals_kernel<1, true>);
  } else if (shape.chunk == 2) {
    run(&conditionals_kernel<2, true>);
  } else if (shape.chunk == 4) {
    run(&conditionals_kernel<4, true>);
  } else {
    run(&conditionals_kernel<8, true>);
  }
}

}  // namespace taproot::cuda
