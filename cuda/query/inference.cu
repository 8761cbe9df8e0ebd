// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/inference.cuh"

#include "cuda/core/launch.h"
#include "cuda/query/inference_cluster.cuh"

namespace taproot::cuda {

template <typename T>
void launch_inference(const InferenceArgs& args, const Shape& shape, void* stream) {
  if (args.batch.size == 0) return;
  const auto size = static_cast<unsigned>(args.batch.size);
  const Layout layout(args.batch.max_n, shape.threads, shape.chunk, sizeof(T), shape.shared,
                      shape.cluster);
  if (shape.cluster > 1) {
    auto* kernel =
        shape.chunk == 8 ? &inference_cluster_kernel<T, 8> : &inference_cluster_kernel<T, 16>;
    launch_cluster(kernel, size, static_cast<unsigned>(shape.cluster),
                   static_cast<unsigned>(shape.threads), layout.bytes, stream, args);
    return;
  }
  const auto run = [&](auto* kernel) {
    launch(kernel, size, static_cast<unsigned>(shape.threads), layout.bytes, stream, args);
  };
  if (!shape.shared) {
    run(&inference_kernel<T, 8, false>);
  } else if (shape.chunk == 1) {
    run(&inference_kernel<T, 1, true>);
  } else if (shape.chunk == 2) {
    run(&inference_kernel<T, 2, true>);
  } else if (shape.chunk == 4) {
    run(&inference_kernel<T, 4, true>);
  } else {
    run(&inference_kernel<T, 8, true>);
  }
}

template void launch_inference<double>(const InferenceArgs&, const Shape&, void*);
template void launch_inference<float>(const InferenceArgs&, const Shape&, void*);

}  // namespace taproot::cuda
