// SPDX-License-Identifier: Apache-2.0
#include "cuda/core/launch.h"
#include "cuda/query/hessian.h"
#include "cuda/query/hessian_products.cuh"

namespace taproot::cuda {
namespace {

TAPROOT_HOST_DEVICE int strips_of(int n) { return (n + kStripRows - 1) / kStripRows; }

template <int kColumns, int kThreads>
__global__ void __launch_bounds__(kThreads, kColumns == 32 ? 8 : 512 / kThreads)
    hessian_products_kernel(const __grid_constant__ HessianArgs a, int strips) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ double per_warp[8 * kThreads / kWarp];
  __shared__ double diagonal[kStripRows];
  const int b = static_cast<int>(blockIdx.x) / strips;
  const int number = static_cast<int>(blockIdx.x) % strips;
  const std::int32_t status = a.summary.outcomes[b].status;
  if (number == 0) {
    if (a.total) complete_hessian(a, b, status);
    if (threadIdx.x == 0) a.by_tangents[b] = 0;
  }
  if (status != kOk || a.summary.scalar[b] != kInDouble) return;
  const int n = a.batch.n(b);
  if (number >= strips_of(n)) return;
  const std::int64_t nodes = a.batch.nodes();
  const StripLayout layout(n, kColumns);
  const int rows = ((n + strips_of(n) - 1) / strips_of(n) + 3) / 4 * 4;
  const int first_row = 1 + number * rows;
  Strip<kColumns, kThreads> strip{
      .n = n,
      .single = a.batch.single(),
      .weights = a.factors.weights + a.factors.at(b, nodes),
      .gradient = a.gradient + nodes * nodes * b,
      .direction = EdgeReader(a.direction, b, n),
      .mean = reinterpret_cast<double*>(memory + layout.mean),
      .defect = reinterpret_cast<double*>(memory + layout.defect),
      .position = reinterpret_cast<std::int32_t*>(memory + layout.position),
      .left = reinterpret_cast<double*>(memory + layout.left),
      .right = reinterpret_cast<double*>(memory + layout.right),
      .between = reinterpret_cast<double*>(memory + layout.between),
      .first_row = first_row,
      .end_row = min(first_row + rows, n + 1)};
  const std::int32_t* order = a.factors.order + nodes * b;
  for (int p = static_cast<int>(threadIdx.x); p <= n; p += kThreads) strip.position[order[p]] = p;
  double scale = 1;
  if (!strip.prepare(EdgeReader(a.batch, b, n), strip.right, per_warp, scale)) {
    if (number == 0 && threadIdx.x == 0) a.by_tangents[b] = 1;
    return;
  }
  const EdgeWriter target(a.out, b, n);
  strip.find_between();
  strip.find_diagonal(strip.right, diagonal);
  strip.write(diagonal, scale * a.factor, target);
  if (number != 0) return;
  for (int h = static_cast<int>(threadIdx.x); h <= n; h += kThreads) target.write(h, 0, 0.0);
}

int columns_of(int n) { return n < 32 ? 32 : n < 64 ? 64 : 128; }

}  // namespace

bool products_fit(int max_n, std::size_t most_shared) {
  return StripLayout(max_n, columns_of(max_n)).bytes <= most_shared;
}

void launch_hessian_products(const HessianArgs& args, void* stream) {
  const int n = args.batch.max_n;
  if (args.batch.size == 0 || n == 0) return;
  const int strips = strips_of(n);
  const auto run = [&](auto* kernel, int threads) {
    launch(kernel, static_cast<unsigned>(args.batch.size) * static_cast<unsigned>(strips),
           static_cast<unsigned>(threads), StripLayout(n, columns_of(n)).bytes, stream, args,
           strips);
  };
  switch (columns_of(n)) {
    case 32:
      return run(&hessian_products_kernel<32, 128>, 128);
    case 64:
      return run(&hessian_products_kernel<64, 128>, 128);
    default:
      return run(&hessian_products_kernel<128, 256>, 256);
  }
}

}  // namespace taproot::cuda
