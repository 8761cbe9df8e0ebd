// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/argmax.h"

#include <algorithm>

#include "core/exact_sum.h"
#include "cuda/core/heads.cuh"
#include "cuda/core/launch.h"
#include "cuda/decode/contract.cuh"

namespace taproot::cuda {
namespace {

// With three limbs the scores of a sentence may have digits from 2^k to 2^(k+127), less what sums
// need. All that doubles up to kMaxScore can hold is 1125 digits.
constexpr int kFewLimbs = 3;
constexpr int kAllLimbs = 20;
// Probabilities are cut off here, far below their own error.
constexpr int kProbabilityUnit = -100;
constexpr std::int64_t kMostSlotBytes = std::int64_t{256} << 20;

// Checks the scores, and notes which edges are allowed.
struct Loaded {
  int bad_cell;
  Digits digits;
};

__device__ Loaded load(const EdgeReader& scores, int n, std::uint16_t* modifiers) {
  constexpr int kNone = 0x7fffffff;
  int bad = kNone;
  Digits all{kNoTop, kNoUnit};
  constexpr int kRows = 8;  // Read together, so that a lane waits once.
  for (int h0 = 0; h0 <= n; h0 += kRows) {
    for (int m = lane_id(); m <= n; m += kWarp) {
      double s[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int h = h0 + r;
        s[r] = m > 0 && h <= n && h != m ? scores(h, m) : -HUGE_VAL;
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int h = h0 + r;
        if (h > n) continue;
        const bool allowed = s[r] != -HUGE_VAL;
        modifiers[static_cast<std::int64_t>(m) * (n + 1) + h] =
            static_cast<std::uint16_t>(allowed ? m : 0);
        if (!allowed) continue;
        if (!(fabs(s[r]) <= kMaxScore)) bad = min(bad, h * (n + 1) + m);
        const Digits d = digits_of(s[r]);
        all.top = max(all.top, d.top);
        all.unit = min(all.unit, d.unit);
      }
    }
  }
  for (int step = 16; step > 0; step /= 2) {
    bad = min(bad, shuffle_xor(bad, step));
    all.top = max(all.top, shuffle_xor(all.top, step));
    all.unit = min(all.unit, shuffle_xor(all.unit, step));
  }
  __syncwarp();
  return {bad == kNone ? -1 : bad, all};
}

// Whether sums of the scores fit: a cost is a difference of two sums of at most n + 1 scores.
__device__ bool fits(const Digits& digits, int n, int limbs) {
  const int bits = digits.top - digits.unit + (32 - __clz(n + 1)) + 3;
  return digits.unit == kNoUnit || bits < 64 * (limbs - 1);
}

template <int kLimbs>
__device__ CudaOutcome decode(const ArgmaxArgs& args, int b, int n, const Contracted& c,
                              const TreeHeads& out) {
  const bool probabilities = args.values.data != nullptr;
  const EdgeReader scores(args.batch, b, n);
  if (n < 0 || n > args.batch.max_n) return {kCudaBadLength, -1, -1};
  if (n == 0) return {kEmpty, -1, -1};
  const Loaded loaded = load(scores, n, c.modifiers);
  if (loaded.bad_cell >= 0) {
    return {kBadScore, loaded.bad_cell / (n + 1), loaded.bad_cell % (n + 1)};
  }
  if (!probabilities && !fits(loaded.digits, n, kLimbs)) return {kCudaOutOfRange, -1, -1};
  const EdgeReader values = probabilities ? EdgeReader(args.values, b, n) : scores;
  const int unit = probabilities ? kProbabilityUnit : loaded.digits.unit;
  const double largest = probabilities ? 1.0 : scalbn(1.0, loaded.digits.top);
  Contraction<kLimbs> contraction(c, values, n, args.batch.single(), unit, largest);
  if (!contraction.run()) return {kNoTree, -1, -1};
  const std::uint16_t* heads = contraction.expand();
  for (int m = 1 + lane_id(); m <= n; m += kWarp) out.set(m - 1, heads[m]);
  if (args.score.data != nullptr && lane_id() == 0) {
    detail::ExactSum sum;
    for (int m = 1; m <= n; ++m) sum.add(scores(heads[m], m));
    write_number(args.score, b, sum.value());
  }
  return {kOk, -1, -1};
}

template <int kLimbs>
__device__ void answer(const ArgmaxArgs& args, int b, unsigned char* vectors,
                       unsigned char* large) {
  const TreeHeads out(args.out, b, 0);
  const int n = args.batch.n(b);
  CudaOutcome outcome{kOk, -1, -1};
  if (args.known != nullptr) outcome = args.known[b];
  if (outcome.status == kOk) {
    const Contracted c(vectors, large, min(max(n, 0), args.batch.max_n), kLimbs);
    outcome = decode<kLimbs>(args, b, n, c, out);
  }
  const bool ok = outcome.status == kOk;
  for (int m = (ok ? n : 0) + lane_id(); m < args.batch.max_n; m += kWarp) out.set(m, -1);
  if (lane_id() != 0) return;
  args.outcomes[b] = outcome;
  if (!ok) write_number(args.score, b, NAN);
}

// A block has one warp, so that sentences of any kind do not wait for one another.
__global__ void __launch_bounds__(kWarp) argmax_kernel(const __grid_constant__ ArgmaxArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  answer<kFewLimbs>(args, static_cast<int>(blockIdx.x), memory,
                    memory + Contracted::vector_bytes(args.batch.max_n));
}

// The same with the matrix in a slot. With all limbs, for the sentences that a few did not do for.
template <int kLimbs>
__global__ void __launch_bounds__(kWarp)
    argmax_in_slots_kernel(const __grid_constant__ ArgmaxArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int size = static_cast<int>(args.batch.size);
  unsigned char* slot = args.slots + blockIdx.x * args.slot_bytes;
  for (int b = static_cast<int>(blockIdx.x); b < size; b += static_cast<int>(gridDim.x)) {
    if (kLimbs == kAllLimbs && args.outcomes[b].status != kCudaOutOfRange) continue;
    answer<kLimbs>(args, b, memory, slot);
    __syncwarp();
  }
}

std::size_t shared_bytes(int max_n) {
  return static_cast<std::size_t>(Contracted::vector_bytes(max_n) +
                                  Contracted::large_bytes(max_n, kFewLimbs));
}

}  // namespace

void take_argmax_memory(Arena& arena, const Limits& limits, ArgmaxArgs& args) {
  const auto size = static_cast<std::int64_t>(args.batch.size);
  if (args.outcomes == nullptr) args.outcomes = arena.take<CudaOutcome>(args.batch.size);
  args.slot_bytes = Contracted::large_bytes(args.batch.max_n, kAllLimbs);
  const std::int64_t warps = std::int64_t{8} * limits.multiprocessors;
  args.slot_count = static_cast<int>(
      std::max(std::min({size, warps, kMostSlotBytes / args.slot_bytes}), std::int64_t{1}));
  args.slots =
      arena.take<unsigned char>(static_cast<std::size_t>(args.slot_count * args.slot_bytes));
}

void launch_argmax(const ArgmaxArgs& args, const Limits& limits, void* stream) {
  if (args.batch.size == 0) return;
  const auto vectors = static_cast<std::size_t>(Contracted::vector_bytes(args.batch.max_n));
  const auto slots = static_cast<unsigned>(args.slot_count);
  if (shared_bytes(args.batch.max_n) <= limits.most_shared) {
    launch(&argmax_kernel, static_cast<unsigned>(args.batch.size), kWarp,
           shared_bytes(args.batch.max_n), stream, args);
  } else {
    launch(&argmax_in_slots_kernel<kFewLimbs>, slots, kWarp, vectors, stream, args);
  }
  if (args.values.data != nullptr) return;  // Probabilities always fit.
  launch(&argmax_in_slots_kernel<kAllLimbs>, slots, kWarp, vectors, stream, args);
}

}  // namespace taproot::cuda
