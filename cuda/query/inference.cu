// SPDX-License-Identifier: Apache-2.0
#include "cuda/query/inference.cuh"

#include <algorithm>

#include "cuda/core/launch.h"

namespace taproot::cuda {

template <typename T>
void launch_inference(const InferenceArgs& args, const Limits& limits, void* stream) {
  if (args.batch.size == 0) return;
  const Shape shape = limits.inference_shape(args.batch.max_n, sizeof(T));
  // Where a launch is for the few sentences that others have left, most blocks find nothing to do.
  const std::size_t blocks =
      args.only == kEverySentence
          ? args.batch.size
          : std::min(args.batch.size, static_cast<std::size_t>(limits.multiprocessors));
  const Layout layout(args.batch.max_n, shape.threads, shape.chunk, sizeof(T), shape.shared);
  const bool rest_is_used = shape.chunk == kInGroups && !shape.shared;
  const std::size_t bytes = rest_is_used ? limits.most_shared : layout.bytes;
  const auto run = [&](auto* kernel) {
    launch(kernel, static_cast<unsigned>(blocks), static_cast<unsigned>(shape.threads), bytes,
           stream, args);
  };
  constexpr bool kFloat = sizeof(T) == sizeof(float);
  constexpr int kOfShortSentences = kFloat ? kInGroups : 1;
  constexpr int kThreadsInGlobalMemory = kFloat ? 512 : 256;
  if (shape.chunk == kInGroups && !shape.shared) {
    run(&inference_kernel<T, kInGroups, false, kThreadsInGlobalMemory>);
  } else if (!shape.shared) {
    run(&inference_kernel<T, 8, false, 512>);
  } else if (shape.threads == 512) {
    run(&inference_kernel<T, kInGroups, true, 512>);
  } else if (shape.threads == 256) {
    run(&inference_kernel<T, kInGroups, true, 256>);
  } else {
    run(&inference_kernel<T, kOfShortSentences, true, 128>);
  }
}

template void launch_inference<double>(const InferenceArgs&, const Limits&, void*);
template void launch_inference<float>(const InferenceArgs&, const Limits&, void*);

}  // namespace taproot::cuda
