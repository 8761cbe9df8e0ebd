// SPDX-License-Identifier: Apache-2.0
#include "cuda/sample/without_replacement/skip.h"

#include <bit>
#include <cmath>

#include "core/format.h"
#include "core/random.h"
#include "cuda/core/launch.h"
#include "cuda/core/warp.cuh"
#include "sample/without_replacement/weight.h"

namespace taproot::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int32_t kEmptyPlace = 0x7fffffff;

__device__ const std::int32_t* tree_of(const SkipArgs& args, int b, int s) {
  return args.sampled.heads + b * args.sampled.sentence_stride + s * args.sampled.tree_stride;
}

// Order does not matter to the sum, so that lanes may take words in turn.
__device__ std::uint32_t hash_of(const std::int32_t* heads, int n) {
  std::uint64_t sum = 0;
  for (int m = lane_id(); m < n; m += kWarp) {
    std::uint64_t x = (static_cast<std::uint64_t>(m) << 32) + static_cast<std::uint32_t>(heads[m]);
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    sum += x ^ x >> 31;
  }
  return static_cast<std::uint32_t>(warp_sum(static_cast<unsigned long long>(sum)) >> 32);
}

__device__ bool are_equal(const std::int32_t* a, const std::int32_t* b, int n) {
  bool equal = true;
  for (int m = lane_id(); m < n; m += kWarp) equal = equal && a[m] == b[m];
  return __all_sync(kAllLanes, equal);
}

// Where tree s is in the table, by one warp. The place holds the first of all trees like it once
// all warps are done.
__device__ int place_of(const SkipArgs& args, int b, int n, int s, std::int32_t* table) {
  const std::int32_t* own = tree_of(args, b, s);
  const auto mask = static_cast<std::uint32_t>(args.table_size) - 1;
  for (std::uint32_t at = hash_of(own, n);; ++at) {
    std::int32_t* place = table + (at & mask);
    std::int32_t there = 0;
    if (lane_id() == 0) there = atomicCAS(place, kEmptyPlace, s);
    there = __shfl_sync(kAllLanes, there, 0);
    if (there == kEmptyPlace) return static_cast<int>(at & mask);
    if (!are_equal(own, tree_of(args, b, there), n)) continue;
    if (lane_id() == 0) atomicMin(place, s);
    return static_cast<int>(at & mask);
  }
}

// The new trees among the next kThreads attempts, in shared memory.
struct Chunk {
  double p[kThreads];
  double wait[kThreads];  // An exponential; then exp(-Gumbel).
  int attempt[kThreads];
  int count;  // How many are new.
};

// What is known after some attempts. exp(-Gumbel) of the next tree is that of the tree before plus
// an exponential divided by the mass that is left: what truncated_gumbel() computes, by logarithms.
struct Progress {
  double mass;  // Of the trees so far.
  double time;  // exp(-Gumbel) of the last tree.
  int count;
  int last;     // The last attempt that gave a new tree.
  bool failed;  // Whether the host would hand over to the trie.
};

__device__ double exponential_of(const detail::StreamKey& key, int i, detail::Purpose purpose) {
  const detail::PhiloxBlock block =
      detail::philox_block(key, static_cast<std::uint32_t>(i), purpose, 0);
  return detail::to_exponential(block.draws[0], block.draws[1]);
}

// Fills the chunk that begins with attempt `first`, by all threads.
__device__ void load(const SkipArgs& args, int b, const detail::StreamKey& key, int first,
                     int known, Chunk& chunk) {
  __shared__ int of_warp[kThreads / kWarp];
  const std::int32_t* table = args.table + static_cast<std::int64_t>(b) * args.table_size;
  const std::int64_t sentence = static_cast<std::int64_t>(b) * args.attempts;
  const int s = first + static_cast<int>(threadIdx.x);
  const bool is_new = s < args.attempts && table[args.places[sentence + s]] == s;
  const unsigned lanes = __ballot_sync(kAllLanes, is_new);
  if (lane_id() == 0) of_warp[warp_id()] = __popc(lanes);
  __syncthreads();
  int at = __popc(lanes & ((1u << lane_id()) - 1));
  for (int w = 0; w < warp_id(); ++w) at += of_warp[w];
  if (is_new) {
    chunk.p[at] = exp(args.log_prob[sentence + s]);
    chunk.wait[at] = exponential_of(key, known + at, detail::Purpose::kGumbel);
    chunk.attempt[at] = s;
  }
  if (static_cast<int>(threadIdx.x) == kThreads - 1) chunk.count = at + (is_new ? 1 : 0);
  __syncthreads();
}

// WithoutReplacementSampler::next() for the trees of a chunk, by one thread.
__device__ void advance(const SkipArgs& args, int n, Chunk& chunk, Progress& progress) {
  const double least_left = 1 / fmax(detail::kLeastShare, n / 2.0);
  const int most = static_cast<int>(detail::kMostRepeats / least_left);
  for (int i = 0; i < chunk.count && progress.count < args.trees; ++i) {
    const int repeats = chunk.attempt[i] - progress.last - 1;
    if (!(1 - progress.mass >= least_left) || repeats >= most) {
      progress.failed = true;
      return;
    }
    progress.time += chunk.wait[i] / (1 - progress.mass);
    progress.mass += chunk.p[i];
    progress.last = chunk.attempt[i];
    chunk.wait[i] = progress.time;
    ++progress.count;
  }
  if (progress.count == args.trees) progress.failed = !(1 - progress.mass >= least_left);
}

// Chooses the trees and finds their Gumbels and kappa, by all threads. False where the host would
// hand over to the trie, or where there were too few attempts.
__device__ bool choose(const SkipArgs& args, int b, int n) {
  __shared__ Chunk chunk;
  __shared__ Progress progress;
  __shared__ detail::StreamKey key;
  const int tid = static_cast<int>(threadIdx.x);
  const std::int64_t first_tree = static_cast<std::int64_t>(b) * args.trees;
  const std::int64_t sentence = static_cast<std::int64_t>(b) * args.attempts;
  if (tid == 0) {
    key = detail::stream_key(args.seed, args.batch.id(b));
    progress = {0, 0, 0, -1, false};
  }
  __syncthreads();
  for (int first = 0; first < args.attempts; first += kThreads) {
    const int known = progress.count;
    if (known == args.trees || progress.failed) break;
    load(args, b, key, first, known, chunk);
    if (tid == 0) advance(args, n, chunk, progress);
    __syncthreads();
    if (tid < progress.count - known) {
      const std::int64_t to = first_tree + known + tid;
      args.chosen[to] = chunk.attempt[tid];
      args.out.log_prob[to] = args.log_prob[sentence + chunk.attempt[tid]];
      args.out.gumbel[to] = -log(chunk.wait[tid]);
    }
    __syncthreads();
  }
  if (tid == 0 && progress.count == args.trees) {
    const double wait = exponential_of(key, progress.count, detail::Purpose::kKappa);
    args.out.kappa[b] = -log(progress.time + wait / (1 - progress.mass));
  }
  __syncthreads();
  return progress.count == args.trees && !progress.failed;
}

// One block per sentence.
__global__ void __launch_bounds__(kThreads) skip_kernel(const __grid_constant__ SkipArgs args) {
  const int b = static_cast<int>(blockIdx.x);
  if (args.outcomes[b].status != kOk) return;
  const int n = args.batch.n(b);
  const int tid = static_cast<int>(threadIdx.x);
  std::int32_t* table = args.table + static_cast<std::int64_t>(b) * args.table_size;
  std::int32_t* places = args.places + static_cast<std::int64_t>(b) * args.attempts;
  for (int i = tid; i < args.table_size; i += kThreads) table[i] = kEmptyPlace;
  __syncthreads();
  for (int s = warp_id(); s < args.attempts; s += kThreads / kWarp) {
    const int place = place_of(args, b, n, s, table);
    if (lane_id() == 0) places[s] = place;
  }
  __syncthreads();
  if (!choose(args, b, n)) {
    if (tid == 0) args.outcomes[b] = {kCudaOutOfRange, -1, -1};
    return;
  }
  if (tid == 0) args.out.count[b] = args.trees;
  const std::int64_t first = static_cast<std::int64_t>(b) * args.trees;
  for (int i = tid; args.out.weight != nullptr && i < args.trees; i += kThreads) {
    args.out.weight[first + i] =
        detail::horvitz_thompson(args.out.log_prob[first + i], args.out.kappa[b]);
  }
  for (int i = warp_id(); i < args.trees; i += kThreads / kWarp) {
    const std::int32_t* from = tree_of(args, b, args.chosen[first + i]);
    std::int32_t* to =
        args.out.trees.heads + b * args.out.trees.sentence_stride + i * args.out.trees.tree_stride;
    for (int m = lane_id(); m < args.batch.max_n; m += kWarp) to[m] = m < n ? from[m] : -1;
  }
}

}  // namespace

void take_skip_memory(Arena& arena, SkipArgs& args) {
  const std::size_t size = args.batch.size;
  const auto attempts = static_cast<std::size_t>(args.attempts);
  args.table_size = static_cast<int>(std::bit_ceil(2 * attempts));
  args.table = arena.take<std::int32_t>(size * static_cast<std::size_t>(args.table_size));
  args.places = arena.take<std::int32_t>(size * attempts);
  args.chosen = arena.take<std::int32_t>(size * static_cast<std::size_t>(args.trees));
}

void launch_skip(const SkipArgs& args, void* stream) {
  if (args.batch.size == 0) return;
  launch(&skip_kernel, static_cast<unsigned>(args.batch.size), kThreads, 0, stream, args);
}

}  // namespace taproot::cuda
