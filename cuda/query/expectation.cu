// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/expectation.h"

#include "cuda/core/launch.h"
#include "cuda/query/inference.cuh"
#include "cuda/scores/support.cuh"

namespace taproot::cuda {
namespace {

constexpr int kThreads = 128;

// One block per sentence. Where a value is not finite, the graph decides whether some tree has the
// edge, because a marginal that should be 0 may be computed as slightly more.
__global__ void __launch_bounds__(kThreads)
    expectation_kernel(const __grid_constant__ ExpectationArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[kThreads / kWarp];
  const int b = static_cast<int>(blockIdx.x);
  if (args.summary.outcomes[b].status != kOk) return;
  const int n = args.batch.n(b);
  const EdgeReader p(args.marginals, b, n);
  const EdgeReader value(args.values, b, n);
  double total = 0;
  bool suspects = false;
  for (int h = warp_id(); h <= n; h += warp_count()) {
    double sum = 0;  // Row by row: fewer roundings pile up.
    for (int m = 1 + lane_id(); m <= n; m += kWarp) {
      const double x = p(h, m);
      if (!(x > 0)) continue;
      const double v = value(h, m);
      if (isfinite(v)) {
        sum += x * v;
      } else {
        suspects = true;
      }
    }
    total += sum;
  }
  if (__syncthreads_or(suspects ? 1 : 0) != 0) {
    Support support(EdgeReader(args.batch, b, n), n, args.batch.single(), memory);
    support.find_last_words();
    const auto suspect = [&](int h, int m) { return p(h, m) > 0 && !isfinite(value(h, m)); };
    for (int m = 1; m <= n; ++m) {
      bool any = false;
      for (int h = static_cast<int>(threadIdx.x); h <= n; h += kThreads) any |= suspect(h, m);
      if (__syncthreads_or(any ? 1 : 0) == 0) continue;
      support.choose(m);
      for (int h = static_cast<int>(threadIdx.x); h <= n; h += kThreads) {
        if (suspect(h, m) && support.supports(h, m)) total += p(h, m) * value(h, m);
      }
    }
  }
  total = sum_of_threads(total, per_warp);
  if (threadIdx.x == 0) args.out[b] = total;
}

}  // namespace

void launch_expectation(const ExpectationArgs& args, void* stream) {
  if (args.batch.size == 0) return;
  launch(&expectation_kernel, static_cast<unsigned>(args.batch.size), kThreads,
         Support::bytes(args.batch.max_n), stream, args);
}

}  // namespace taproot::cuda
