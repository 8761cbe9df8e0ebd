// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/kept.h"

#include "cuda/core/launch.h"
#include "cuda/core/warp.cuh"

namespace taproot::cuda {
namespace {

constexpr unsigned kThreads = 128;

unsigned blocks_of(std::size_t size) {
  return static_cast<unsigned>((size + kThreads - 1) / kThreads);
}

__device__ int global_thread() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void copy_kernel(const CudaOutcome* outcomes, const double* from, double* to, int size) {
  const int b = global_thread();
  if (b < size && outcomes[b].status == kOk) to[b] = from[b];
}

__global__ void copy_edges_kernel(Batch batch, const CudaOutcome* outcomes, CudaEdges from,
                                  CudaEdges to) {
  const int b = static_cast<int>(blockIdx.x);
  if (outcomes[b].status != kOk) return;
  const int n = batch.n(b);
  const EdgeReader reader(from, b, n);
  const EdgeWriter writer(to, b, n);
  for (int h = warp_id(); h <= n; h += warp_count()) {
    for (int m = lane_id(); m <= n; m += kWarp) writer.write(h, m, reader(h, m));
  }
}

__global__ void copy_root_law_kernel(Batch batch, Summary summary, double* to) {
  const int b = static_cast<int>(blockIdx.x);
  if (summary.outcomes[b].status != kOk) return;
  const double* from = summary.root_law + b * batch.nodes();
  for (int i = static_cast<int>(threadIdx.x); i < batch.n(b); i += static_cast<int>(blockDim.x)) {
    to[static_cast<std::int64_t>(b) * batch.max_n + i] = from[i];
  }
}

__global__ void outcomes_kernel(Summary summary, CudaOutcome* to, int size) {
  const int b = global_thread();
  if (b >= size) return;
  const CudaOutcome outcome = summary.outcomes[b];
  const bool wide = outcome.status == kOk && summary.scalar[b] == kInWide;
  to[b] = wide ? CudaOutcome{kCudaOutOfRange, -1, -1} : outcome;
}

__global__ void refuse_kernel(CudaOutcome* outcomes, int size) {
  const int b = global_thread();
  if (b < size) outcomes[b] = {kCudaOutOfRange, -1, -1};
}

}  // namespace

void launch_copy(const Batch& batch, const CudaOutcome* outcomes, const double* from, double* to,
                 void* stream) {
  if (batch.size == 0) return;
  launch(&copy_kernel, blocks_of(batch.size), kThreads, 0, stream, outcomes, from, to,
         static_cast<int>(batch.size));
}

void launch_copy(const Batch& batch, const CudaOutcome* outcomes, const CudaEdges& from,
                 const CudaEdges& to, void* stream) {
  if (batch.size == 0) return;
  launch(&copy_edges_kernel, static_cast<unsigned>(batch.size), kThreads, 0, stream, batch,
         outcomes, from, to);
}

void launch_copy_root_law(const Batch& batch, const Summary& summary, double* to, void* stream) {
  if (batch.size == 0) return;
  launch(&copy_root_law_kernel, static_cast<unsigned>(batch.size), kThreads, 0, stream, batch,
         summary, to);
}

void launch_outcomes_of_factors(const Batch& batch, const Summary& summary, CudaOutcome* to,
                                void* stream) {
  if (batch.size == 0) return;
  launch(&outcomes_kernel, blocks_of(batch.size), kThreads, 0, stream, summary, to,
         static_cast<int>(batch.size));
}

void launch_refusal(CudaOutcome* outcomes, std::size_t size, void* stream) {
  if (size == 0) return;
  launch(&refuse_kernel, blocks_of(size), kThreads, 0, stream, outcomes, static_cast<int>(size));
}

}  // namespace taproot::cuda
