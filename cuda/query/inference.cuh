// SPDX-License-Identifier: Apache-2.0
//
// One thread block per sentence: from scores to factors and log Z, from factors to marginals and
// entropy. Other kernels that eliminate (wide, divergence, the beam's laws) begin with prepare().
#pragma once

#include "core/probability.h"
#include "cuda/core/sentences.cuh"
#include "cuda/query/gradient.cuh"
#include "cuda/query/gradient_groups.cuh"
#include "cuda/query/inference.h"
#include "cuda/scores/fill.cuh"

namespace taproot::cuda {

/// The parts of a block's shared memory.
template <typename T>
struct Block {
  Vectors v;
  Work<T> w;

  __device__ Block(unsigned char* memory, const Layout& l, bool shared, T* matrix) {
    v.scale = reinterpret_cast<double*>(memory + l.scale);
    v.sums = reinterpret_cast<double*>(memory + l.sums);
    v.keys = reinterpret_cast<double*>(memory + l.keys);
    v.reduce = reinterpret_cast<double*>(memory + l.reduce);
    v.order = reinterpret_cast<int*>(memory + l.order);
    v.position = reinterpret_cast<int*>(memory + l.position);
    v.last = memory + l.last;
    w.pivot = reinterpret_cast<T*>(memory + l.pivot);
    w.dots = reinterpret_cast<T*>(memory + l.dots);
    w.part = reinterpret_cast<T*>(memory + l.part);
    w.part_e = reinterpret_cast<T*>(memory + l.part_e);
    w.inverse = reinterpret_cast<T*>(memory + l.inverse);
    w.panels = reinterpret_cast<T*>(memory + l.panels);
    w.squares = reinterpret_cast<T*>(memory + l.squares);
    w.matrix = shared ? reinterpret_cast<T*>(memory + l.matrix) : matrix;
    w.ld = l.ld;
    w.near = w.matrix;
    w.near_rows = 0;
  }
};

/// One sentence's part of the arguments. Pointers are computed where they are used: held in
/// registers, they would leave room for fewer blocks at once.
struct SentenceOutput {
  const InferenceArgs& args;
  int b;
  int n;

  __device__ SentenceOutput(const InferenceArgs& all, int sentence)
      : args(all), b(sentence), n(all.batch.n(sentence)) {}
  __device__ bool single() const { return args.batch.single(); }
  __device__ bool has_factors() const { return args.factors.factors != nullptr; }
  __device__ CudaOutcome* outcome() const { return args.summary.outcomes + b; }
  __device__ double* weights() const { return args.factors.weights + matrix(); }
  __device__ double* factors() const { return args.factors.factors + matrix(); }
  __device__ double* pivots() const { return args.factors.pivots + vector(); }
  __device__ std::int32_t* order() const { return args.factors.order + vector(); }
  __device__ double* scale() const { return args.summary.scale + vector(); }
  __device__ double* root_law() const { return args.summary.root_law + vector(); }
  __device__ double* gradient() const {
    return args.gradient + b * args.batch.nodes() * args.batch.nodes();
  }

 private:
  __device__ std::int64_t matrix() const { return args.factors.at(b, args.batch.nodes()); }
  __device__ std::int64_t vector() const { return b * args.batch.nodes(); }
};

/// How many blocks a multiprocessor is to have at once, which bounds their registers.
template <typename T, bool kShared, int kThreads>
inline constexpr int kBlocksAtOnce =
    !kShared || kThreads == 512                     ? 1
    : kThreads == 128 || sizeof(T) == sizeof(float) ? 1024 / kThreads
                                                    : 512 / kThreads;

/// Whether this launch is for sentence b, whose status is given: without an elimination, if it was
/// factored in this precision.
template <typename T>
__device__ inline bool wanted(const InferenceArgs& args, int b, std::int32_t status) {
  if (args.eliminate) return args.only == kEverySentence || status == args.only;
  return status == kOk &&
         args.summary.scalar[b] == (sizeof(T) == sizeof(double) ? kInDouble : kInFloat);
}

/// From scores to keys: all that comes before an order is chosen. False, with the outcome written,
/// if there is no answer. `weights` [n+1][n+1] is filled.
template <typename T>
__device__ inline bool prepare(const EdgeReader& scores, int n, int max_n, bool single,
                               double* weights, Block<T>& block, SentenceFacts& facts,
                               CudaOutcome* outcome) {
  const auto fail = [&](std::int32_t status, int head, int modifier) {
    if (threadIdx.x == 0) *outcome = {status, head, modifier};
    return false;
  };
  if (n < 0 || n > max_n) return fail(kCudaBadLength, -1, -1);
  if (n == 0) return fail(kEmpty, -1, -1);
  choose_scales(scores, n, single, block.v, facts);
  if (facts.bad_cell != 0x7fffffff) {
    return fail(kBadScore, facts.bad_cell / (n + 1), facts.bad_cell % (n + 1));
  }
  find_last_words(scores, n, single, block.v, reinterpret_cast<std::uint32_t*>(block.w.matrix),
                  facts);
  if (facts.reaches == 0) return fail(kNoTree, -1, -1);
  fill_weights<T>(scores, n, weights, block.v, facts);
  find_keys(weights, n, single, block.v);
  return true;
}

/// The answers of a sentence without a tree, by one block. All threads have to call it.
__device__ __noinline__ inline void answer_failure(const InferenceArgs& args, int b, int n) {
  __syncthreads();  // Thread 0 has written the outcome.
  const bool no_tree = args.summary.outcomes[b].status == kNoTree;
  if (threadIdx.x == 0) {
    write_number(args.log_partition, b, no_tree ? -HUGE_VAL : NAN);
    write_number(args.entropy, b, NAN);
  }
  fill_failure(args.marginals[0], args.batch.max_n, b, n, no_tree);
}

/// log Z, by one thread.
__device__ inline void write_log_partition(const InferenceArgs& args, int b,
                                           const SentenceFacts& facts, std::int32_t scalar) {
  const Summary& to = args.summary;
  const double log_z = detail::log_scaled(facts.mantissa, facts.exponent + facts.total_scale);
  to.log_partition[b] = log_z;
  write_number(args.log_partition, b, log_z);
  to.scaled_log_partition[b] = detail::log_scaled(facts.mantissa, facts.exponent);
  to.scalar[b] = scalar;
}

/// What the whole sentence has, by one block: log Z, and the vectors that go with the factors.
template <typename T>
__device__ inline void write_summary(const InferenceArgs& args, const SentenceOutput& out,
                                     const Block<T>& block, const SentenceFacts& facts) {
  if (threadIdx.x == 0) {
    write_log_partition(args, out.b, facts, sizeof(T) == sizeof(double) ? kInDouble : kInFloat);
  }
  for (int p = static_cast<int>(threadIdx.x); p <= out.n; p += static_cast<int>(blockDim.x)) {
    out.scale()[p] = p == 0 ? facts.root_scale : block.v.scale[p];
    if (!out.has_factors()) continue;
    out.order()[p] = block.v.order[p];
    out.pivots()[p] = p == 0 ? 0.0 : static_cast<double>(block.w.pivot[p]);
  }
}

/// The inverse: what the reverse pass needs besides the matrix.
template <typename T>
__device__ inline void read_summary(const SentenceOutput& from, Block<T>& block,
                                    SentenceFacts& facts) {
  for (int p = static_cast<int>(threadIdx.x); p <= from.n; p += static_cast<int>(blockDim.x)) {
    const int node = from.order()[p];
    block.v.order[p] = node;
    block.v.position[node] = p;
    block.w.pivot[p] = static_cast<T>(from.pivots()[p]);
    block.v.scale[p] = from.scale()[p];
  }
  if (threadIdx.x == 0) facts.root_scale = from.scale()[0];
  __syncthreads();
}

template <typename T>
__device__ inline void write_row(const T* row, int m, int n, double* to) {
  for (int h = lane_id(); h <= n; h += kWarp) {
    to[static_cast<std::int64_t>(m) * (n + 1) + h] = static_cast<double>(row[h]);
  }
}

template <typename T>
__device__ inline void read_row(const double* from, int m, int n, T* row) {
  for (int h = lane_id(); h <= n; h += kWarp) {
    row[h] = static_cast<T>(from[static_cast<std::int64_t>(m) * (n + 1) + h]);
  }
}

/// Writes p(h -> m), from G[h][m], into both outputs, and returns what the edge adds to the mean of
/// the scores with their scales taken out: log Z of the scaled weights less that is the entropy.
struct MarginalWriter {
  EdgeReader scores;
  EdgeWriter first;
  EdgeWriter second;
  int n;
  const double* weights;
  double* root_law;  ///< Null: the elimination has found it.
  const double* scale;
  double root_scale;
  double factor;
  bool with_entropy;

  __device__ MarginalWriter(const InferenceArgs& args, const SentenceOutput& sentence,
                            const double* scales, double of_root)
      : scores(args.batch, sentence.b, sentence.n),
        first(args.marginals[0], sentence.b, sentence.n),
        second(args.marginals[1], sentence.b, sentence.n),
        n(sentence.n),
        weights(sentence.weights()),
        root_law(sentence.single() && sentence.has_factors() ? nullptr : sentence.root_law()),
        scale(scales),
        root_scale(of_root),
        factor(args.factor.data == nullptr ? 1.0 : read_number(args.factor, sentence.b)),
        with_entropy(args.summary.entropy != nullptr || args.entropy.data != nullptr) {}

  __device__ double weight(int h, int m) const {
    return weights[static_cast<std::int64_t>(h) * (n + 1) + m];
  }
  __device__ double write(int h, int m, double of_edge, double g) const {
    const double p = m > 0 && m != h ? of_edge * g : 0.0;
    return write_probability(h, m, detail::nearest_probability(p));
  }

  __device__ double write_probability(int h, int m, double p) const {
    first.write(h, m, p * factor);
    second.write(h, m, p);
    if (h == 0 && m > 0 && root_law != nullptr) root_law[m - 1] = p;
    // An edge without probability counts 0, though its score may be -inf.
    if (!with_entropy || !(p > 0)) return 0;
    return p * detail::minus_k_ln2(scores(h, m), scale[m] + (h == 0 ? root_scale : 0.0));
  }
};

/// The sum over the block's threads, for thread 0, in a fixed order.
__device__ inline double sum_of_threads(double x, double* per_warp) {
  x = warp_sum(x);
  if (lane_id() == 0) per_warp[warp_id()] = x;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < warp_count(); ++i) sum += per_warp[i];
  return sum;
}

/// By one thread. A sum that rounds below zero is 0.
__device__ inline void write_entropy(const InferenceArgs& args, int b, double x) {
  const double entropy = detail::non_negative(x);
  if (args.summary.entropy != nullptr) args.summary.entropy[b] = entropy;
  write_number(args.entropy, b, entropy);
}

template <typename T, int kChunk, bool kShared, int kThreads>
__device__ inline void infer_sentence(const InferenceArgs& args, int b, unsigned char* memory,
                                      SentenceFacts& facts) {
  // Steps of a loop whose numbers are on their way from global memory at the same time.
  constexpr int kAtOnce = kShared ? 1 : 1024 / kThreads;
  const SentenceOutput out(args, b);
  const int n = out.n;
  if (args.total && args.only == kEverySentence) {
    fill_edges(args.marginals[0], args.batch.max_n, b, n, true, 0);
  }
  const Layout layout(min(max(n, 1), args.batch.max_n), static_cast<int>(blockDim.x), kChunk,
                      sizeof(T), kShared);
  Block<T> block(memory, layout, kShared,
                 kShared ? nullptr : static_cast<T*>(args.matrices) + b * args.matrix_stride);
  Work<T>& w = block.w;
  if constexpr (kChunk == kInGroups && !kShared) {
    // As many rows as there is room for are in shared memory. The first ones are used most.
    w.near = reinterpret_cast<T*>(memory + layout.bytes);
    w.near_rows = static_cast<int>((dynamic_shared_bytes() - layout.bytes) /
                                   (sizeof(T) * static_cast<std::size_t>(w.ld)));
  }
  if (args.eliminate) {
    const EdgeReader scores(args.batch, b, n);
    if (!prepare(scores, n, args.batch.max_n, out.single(), out.weights(), block, facts,
                 out.outcome())) {
      if (args.total) answer_failure(args, b, n);
      return;
    }
    assign_positions(n, 0, block.v);
    if constexpr (kChunk == kInGroups) {
      gather_in_groups<kShared>(out.weights(), n, block.v, w);
      factor_in_groups<kAtOnce>(n, out.single(), w);
    } else {
      gather(out.weights(), n, 0, block.v, w);
      factor<T, kChunk>(n, out.single(), w);
    }
    const bool fits = finish(n, out.single(), facts.root_sum, block.v, w, facts);
    if (threadIdx.x == 0) *out.outcome() = {fits ? kOk : kCudaOutOfRange, -1, -1};
    if (!fits) return;
    write_summary(args, out, block, facts);
    if (out.has_factors()) {
      for (int m = 1 + warp_id(); m <= n; m += warp_count()) {
        write_row(w.row(m), m, n, out.factors());
      }
      if (out.single() && warp_id() == 0) {
        const auto row = [&](int m) { return w.row(m); };
        write_root_law(n, row, w, out.weights(), block.v.order, out.root_law());
      }
      __syncthreads();
    }
  } else {
    read_summary(out, block, facts);
    if constexpr (kChunk == kInGroups) invert_pivots(n, w);
    for (int m = 1 + warp_id(); m <= n; m += warp_count()) {
      read_row(out.factors(), m, n, w.row(m));
    }
    __syncthreads();
  }
  if (!args.reverse) return;
  if constexpr (kChunk == kInGroups) {
    gradient_in_groups<kAtOnce>(n, out.single(), w);
  } else {
    gradient<T, kChunk>(n, out.single(), w);
  }
  if (args.gradient != nullptr) {  // For a Hessian.
    double* to = out.gradient();
    for (int m = 1 + warp_id(); m <= n; m += warp_count()) {
      T* row = w.row(m);
      if (lane_id() == m % kWarp) row[m] = 0;  // The diagonal holds anything.
      __syncwarp();
      write_row(row, m, n, to);
    }
    if (args.entropy.data == nullptr) return;
    __syncthreads();
  }
  const MarginalWriter writer(args, out, block.v.scale, facts.root_scale);
  // Two rows of several weights are on their way from memory at the same time. Sums are taken row
  // by row: fewer roundings pile up.
  constexpr int kColumns = 4;
  const auto column_of = [&](int h) { return h <= n ? block.v.position[h] : 0; };
  double mean_score = 0;
  for (int h0 = warp_id(); h0 <= n; h0 += 2 * warp_count()) {
    const int h[2] = {h0, h0 + warp_count()};
    const int column[2] = {column_of(h[0]), column_of(h[1])};
    double sum[2] = {};
    for (int m0 = lane_id(); m0 <= n; m0 += kColumns * kWarp) {
      double weight[2][kColumns];
      T g[2][kColumns];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
#pragma unroll
        for (int i = 0; i < kColumns; ++i) {
          const int m = min(m0 + i * kWarp, n);
          weight[r][i] = writer.weight(min(h[r], n), m);
          g[r][i] = w.row(block.v.position[m])[column[r]];
        }
      }
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        const int m = m0 + i * kWarp;
        if (m > n) continue;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if (h[r] > n) continue;
          sum[r] += writer.write(h[r], m, weight[r][i], static_cast<double>(g[r][i]));
        }
      }
    }
    mean_score += sum[0];
    mean_score += sum[1];
  }
  mean_score = sum_of_threads(mean_score, block.v.reduce);
  if (threadIdx.x == 0) {
    write_entropy(args, b, args.summary.scaled_log_partition[b] - mean_score);
  }
}

template <typename T, int kChunk, bool kShared, int kThreads>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce<T, kShared, kThreads>)
    inference_kernel(const __grid_constant__ InferenceArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SentenceFacts facts;
  for_sentences(
      static_cast<int>(args.batch.size),
      [&](int b) { return wanted<T>(args, b, args.summary.outcomes[b].status); },
      [&](int b) { infer_sentence<T, kChunk, kShared, kThreads>(args, b, memory, facts); });
}

}  // namespace taproot::cuda
